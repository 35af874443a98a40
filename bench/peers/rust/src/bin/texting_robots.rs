//! The runner of the crate texting_robots, which takes a URL or its path with query.

use std::panic::catch_unwind;
use texting_robots::Robot;

fn main() {
    let job = peers::Job::from_args();
    let start = peers::cpu_ns();
    let parse = |body: &Vec<u8>| {
        catch_unwind(|| Robot::new(&job.agent, body).ok())
            .ok()
            .flatten()
    };
    let robots: Vec<Option<Robot>> = job.bodies.iter().map(parse).collect();
    let parse_ms = (peers::cpu_ns() - start) / 1e6;
    job.run(
        "texting_robots",
        parse_ms,
        &robots,
        |row| &row.url,
        |robot, url| robot.as_ref().map(|robot| robot.allowed(url)),
    );
}
