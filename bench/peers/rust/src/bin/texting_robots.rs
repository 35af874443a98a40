//! The runner of the crate texting_robots.

use std::{panic::catch_unwind, time::Instant};
use texting_robots::Robot;

fn main() {
    let job = peers::Job::from_args();
    let start = Instant::now();
    let parse = |body: &Vec<u8>| {
        catch_unwind(|| Robot::new(&job.agent, body).ok())
            .ok()
            .flatten()
    };
    let robots: Vec<Option<Robot>> = job.bodies.iter().map(parse).collect();
    let parse_ms = start.elapsed().as_secs_f64() * 1e3;
    job.run("texting_robots", parse_ms, |row| {
        robots[row.body]
            .as_ref()
            .map(|robot| robot.allowed(&row.url))
    });
}
