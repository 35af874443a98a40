//! The runner of the crate fast-robots, with its matcher for repeated checks.

use fast_robots::{RobotsMatcher, RobotsTxt};
use std::borrow::Cow;

fn main() {
    let job = peers::Job::from_args();
    let start = peers::cpu_ns();
    let texts: Vec<Cow<str>> = job
        .bodies
        .iter()
        .map(|b| String::from_utf8_lossy(b))
        .collect();
    let parsed: Vec<RobotsTxt> = texts.iter().map(|t| RobotsTxt::parse(t)).collect();
    let matchers: Vec<RobotsMatcher> = parsed.iter().map(|p| p.matcher()).collect();
    let parse_ms = (peers::cpu_ns() - start) / 1e6;
    job.run(
        "fast-robots",
        parse_ms,
        &matchers,
        |row| &row.path,
        |matcher, path| Some(matcher.is_allowed(&job.agent, path)),
    );
}
