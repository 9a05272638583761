//! What was measured: a line for each figure as it comes, and a table at the end.

use std::fmt::Write;

/// On which side of its goal a figure should be.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// No less than this.
    AtLeast(f64),
    /// No more than this.
    AtMost(f64),
    /// Nothing is asked of it: it explains the others.
    None,
}

struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    goal: Goal,
}

/// All of a run.
#[derive(Default)]
pub struct Report {
    figures: Vec<Figure>,
    /// Why the run does not count, where it does not.
    void: Vec<String>,
}

impl Report {
    /// Takes a figure down and says it.
    pub fn figure(&mut self, name: impl Into<String>, value: f64, unit: &'static str, goal: Goal) {
        let name = name.into();
        println!("FIGURE {name} {value:.4} {unit}");
        self.figures.push(Figure { name, value, unit, goal });
    }

    /// Compares a limit with itself as it was before: where it moved, so did the ground under all
    /// that was measured in between.
    pub fn limit(&mut self, name: &str, before: f64, after: f64) {
        const MOVED: f64 = 1.5;
        let moved = (before / after).max(after / before);
        self.figure(format!("{name}_moved"), moved, "times", Goal::None);
        if moved > MOVED {
            self.void.push(format!("{name} moved {moved:.2} times"));
        }
    }

    /// The figures, with what they should be.
    pub fn table(&self) -> String {
        let width = self.figures.iter().map(|figure| figure.name.len()).max().unwrap_or(0);
        let mut table = String::from("\n");
        for Figure { name, value, unit, goal } in &self.figures {
            let goal = match goal {
                Goal::AtLeast(least) => format!("{} at least {least}", met(value >= least)),
                Goal::AtMost(most) => format!("{} at most {most}", met(value <= most)),
                Goal::None => String::new(),
            };
            writeln!(table, "{name:width$}  {value:>14.3} {unit:<10} {goal}")
                .expect("it is memory");
        }
        for why in &self.void {
            writeln!(table, "THIS RUN DOES NOT COUNT: {why}").expect("it is memory");
        }
        table
    }

    /// The figures that miss their goals by more than two times. Absolute times and rates are
    /// machines' business: only counts and ratios fail a run.
    pub fn missed_by_twice(&self) -> Vec<&str> {
        const MARGIN: f64 = 2.0;
        let missed = |figure: &&Figure| match figure.goal {
            Goal::AtLeast(least) => figure.value < least / MARGIN,
            Goal::AtMost(most) => figure.value > most * MARGIN,
            Goal::None => false,
        };
        let fails = |figure: &&Figure| matches!(figure.unit, "ratio" | "calls" | "bytes");
        let missed = self.figures.iter().filter(missed).filter(fails);
        missed.map(|figure| figure.name.as_str()).collect()
    }
}

fn met(met: bool) -> &'static str {
    if met { "ok   " } else { "MISS " }
}

/// The middle of `values`.
pub fn median(values: &[f64]) -> f64 {
    share(values, 0.5)
}

/// The value that `part` of all are not above.
pub fn share(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (part * (sorted.len().saturating_sub(1)) as f64).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}
