//! Chance: one sequence of numbers for each simulation, and how service times are drawn from it.

use leadline_workloads::randomness;

use crate::description::{Service, Storage};

/// Random numbers in the order in which they are asked for.
pub struct Draws {
    seed: u64,
    drawn: u64,
}

impl Draws {
    pub fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    #[inline]
    pub fn word(&mut self) -> u64 {
        self.drawn += 1;
        randomness::word(self.seed, self.drawn)
    }

    #[inline]
    pub fn below(&mut self, limit: u32) -> u32 {
        reduced(self.word(), limit)
    }

    /// Exponential, 1.0 in the mean.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        self.drawn += 1;
        -randomness::unit_interval(self.seed, self.drawn).ln()
    }
}

/// Below `limit`, from the upper bits of a random word (Lemire's multiply-and-shift).
#[inline]
pub fn reduced(word: u64, limit: u32) -> u32 {
    ((u128::from(word) * u128::from(limit)) >> 64) as u32
}

/// How the work of requests spreads: 1.0 in the mean.
pub enum Works {
    Constant,
    Exponential,
    /// `[counts so far, work]`, to be searched.
    Measured(Vec<(u64, f64)>),
}

impl Works {
    /// Of disks.
    pub fn of_disks(storage: &Storage) -> Self {
        match storage.service {
            Service::Constant => Self::Constant,
            Service::Exponential => Self::Exponential,
            Service::Measured => Self::Measured(cumulated(&storage.service_times)),
        }
    }

    /// Of NICs, switch and software: measured histograms are of disks.
    pub fn of_pipes(storage: &Storage) -> Self {
        match storage.service {
            Service::Exponential => Self::Exponential,
            Service::Constant | Service::Measured => Self::Constant,
        }
    }

    #[inline]
    pub fn draw(&self, draws: &mut Draws) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Exponential => draws.exponential(),
            Self::Measured(bins) => {
                let total = bins.last().map_or(1, |bin| bin.0);
                let rank = ((u128::from(draws.word()) * u128::from(total)) >> 64) as u64;
                bins[bins.partition_point(|bin| bin.0 <= rank)].1
            }
        }
    }
}

fn cumulated(bins: &[(u64, u64)]) -> Vec<(u64, f64)> {
    let total: u64 = bins.iter().map(|bin| bin.1).sum();
    let mean_ns = bins.iter().map(|bin| bin.0 as f64 * bin.1 as f64).sum::<f64>() / total as f64;
    let mut so_far = 0;
    let add = |&(duration_ns, count): &(u64, u64)| {
        so_far += count;
        (so_far, duration_ns as f64 / mean_ns)
    };
    bins.iter().filter(|bin| bin.1 > 0).map(add).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_works_keep_their_shares_and_have_the_mean_one() {
        let works = Works::Measured(cumulated(&[(100, 3), (500, 1)]));
        let mut draws = Draws::new(7);
        let drawn: Vec<f64> = (0..40_000).map(|_| works.draw(&mut draws)).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let long = drawn.iter().filter(|&&work| work > 2.0).count() as f64 / drawn.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((long - 0.25).abs() < 0.01, "{long}");
    }

    #[test]
    fn exponential_works_have_mean_and_deviation_one() {
        let mut draws = Draws::new(1);
        let drawn: Vec<f64> = (0..100_000).map(|_| draws.exponential()).collect();
        let mean = drawn.iter().sum::<f64>() / 1e5;
        let variance = drawn.iter().map(|work| (work - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.02 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
