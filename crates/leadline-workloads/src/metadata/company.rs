//! Ranks on other hosts: how the process that started the ranks here waits for theirs.
//!
//! One line out, one line in, so that anything can drive it: ssh, mpirun, a shell. When all ranks of this host have
//! arrived, `barrier NUMBER GREATEST` is written to standard output; when those of all hosts have, whoever started
//! the engines answers each with `go NUMBER GREATEST`, the greatest of all hosts. The result is the last line.

use std::io::{BufRead, Write};

use crate::Refusal;

/// The ends of the wire to whoever started the engine.
pub struct Company<'wire> {
    pub answers: &'wire mut dyn BufRead,
    pub questions: &'wire mut dyn Write,
}

impl Company<'_> {
    /// Says that all ranks of this host have arrived at a barrier, and returns once those of all hosts have.
    pub fn meet(&mut self, number: u64, greatest: u64) -> Result<u64, Refusal> {
        writeln!(self.questions, "barrier {number} {greatest}")
            .and_then(|()| self.questions.flush())
            .map_err(|error| {
                Refusal(format!("barrier {number} cannot be told to the other hosts: {error}"))
            })?;
        let mut line = String::new();
        let read = self.answers.read_line(&mut line);
        let understood = |line: &str| {
            let mut words = line.split_whitespace();
            let is_answer = words.next() == Some("go") && words.next() == Some(number.to_string().as_str());
            words.next().filter(|_| is_answer)?.parse().ok()
        };
        read.ok().and_then(|_| understood(&line)).ok_or_else(|| {
            Refusal(format!(
                "after \"barrier {number} {greatest}\", \"go {number} GREATEST\" was expected on standard input, \
                 and {:?} came: another host has given up, or nothing drives the barriers",
                line.trim_end()
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meet(answer: &str) -> (Result<u64, Refusal>, String) {
        let mut questions = Vec::new();
        let mut answers = answer.as_bytes();
        let met = Company { answers: &mut answers, questions: &mut questions }.meet(3, 17);
        (met, String::from_utf8(questions).unwrap())
    }

    #[test]
    fn a_barrier_is_a_line_out_and_a_line_in() {
        assert_eq!(meet("go 3 20\n"), (Ok(20), "barrier 3 17\n".to_owned()));
    }

    #[test]
    fn another_answer_or_none_ends_the_step_with_a_sentence() {
        for answer in ["", "go 2 20\n", "go 3\n", "stop\n"] {
            assert!(meet(answer).0.unwrap_err().0.contains("barrier 3 17"), "{answer:?}");
        }
    }
}
