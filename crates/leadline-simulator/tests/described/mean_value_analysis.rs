//! Closed networks of product form, solved exactly: what simulations are held against.

/// Some stations of a kind: how many, how often a customer visits any of them in a round, and the rate of one with so
/// many there. Each is visited as often as any other.
pub struct Kind<'rate> {
    pub count: f64,
    pub visits: f64,
    pub rate: &'rate dyn Fn(usize) -> f64,
}

/// Requests a second of a closed network with a delay, and the seconds of a round spent at each kind, by exact mean value
/// analysis with load-dependent stations (Reiser and Lavenberg 1980; marginal probabilities of one station of each kind).
pub fn throughput_and_residences(kinds: &[Kind], delay_seconds: f64, customers: usize) -> (f64, Vec<f64>) {
    let mut marginals: Vec<Vec<f64>> = kinds.iter().map(|_| vec![1.0]).collect();
    let (mut per_second, mut residences) = (0.0, Vec::new());
    for present in 1..=customers {
        let residence = |(kind, marginal): (&Kind, &Vec<f64>)| -> f64 {
            let each = |number: usize| number as f64 / (kind.rate)(number) * marginal[number - 1];
            kind.visits * (1..=present).map(each).sum::<f64>()
        };
        residences = kinds.iter().zip(&marginals).map(residence).collect();
        per_second = present as f64 / (delay_seconds + residences.iter().sum::<f64>());
        for (kind, marginal) in kinds.iter().zip(&mut marginals) {
            let share = per_second * kind.visits / kind.count;
            let step = |number: usize| share / (kind.rate)(number) * marginal[number - 1];
            let mut next: Vec<f64> = (1..=present).map(step).collect();
            next.insert(0, 1.0 - next.iter().sum::<f64>());
            *marginal = next;
        }
    }
    (per_second, residences)
}
