//! How often a violation can happen that was seen k times in n checks: an upper bound with 95 % confidence.

/// The 95 % quantile of the normal distribution, one-sided.
const NORMAL_95: f64 = 1.644_853_626_951_472_6;

/// The bound on the rate; None when nothing was checked.
///
/// With k = 0 it is exact, 1 - 0.05^(1/n), which is about 3/n (Hanley and Lippman-Hand, JAMA 1983). Otherwise it
/// is Wilson's (JASA 1927). Both take the checks for independent: violations that come in bursts are rarer in
/// number of bursts and longer than it says, so that the number of objects stands beside the number of reads.
pub fn upper_bound(violating: u64, checked: u64) -> Option<f64> {
    if checked == 0 {
        return None;
    }
    let n = checked as f64;
    if violating == 0 {
        return Some(-f64::exp_m1(0.05f64.ln() / n));
    }
    let (rate, z) = (violating as f64 / n, NORMAL_95);
    let centre = rate + z * z / (2.0 * n);
    let spread = z * (rate * (1.0 - rate) / n + z * z / (4.0 * n * n)).sqrt();
    Some(((centre + spread) / (1.0 + z * z / n)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::upper_bound;

    #[test]
    fn without_a_violation_the_bound_is_the_rule_of_three() {
        assert_eq!(upper_bound(0, 0), None);
        let bound = upper_bound(0, 1000).expect("something was checked");
        assert!((bound - 3.0 / 1000.0).abs() < 0.00002, "{bound}");
        assert!((0.95..0.951).contains(&upper_bound(0, 1).expect("something was checked")));
    }

    #[test]
    fn the_bound_lies_above_the_observed_rate_and_never_above_one() {
        // (0.1 + z²/200 + z sqrt(0.09/100 + z²/40000)) / (1 + z²/100), z = 1.644854
        let bound = upper_bound(10, 100).expect("something was checked");
        assert!((bound - 0.160356).abs() < 0.000_005, "{bound}");
        assert!((0.99..=1.0).contains(&upper_bound(1000, 1000).expect("something was checked")));
    }
}
