//! What the runners of the Rust crates have in common.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{collections::HashMap, env, fs, time::Instant};
use url::{Position, Url};

pub struct Row {
    /// Index into `Job::bodies`.
    pub body: usize,
    pub url: String,
    pub path: String,
}

pub struct Job {
    pub bodies: Vec<Vec<u8>>,
    pub rows: Vec<Row>,
    pub agent: String,
    out: String,
    passes: usize,
}

impl Job {
    /// Reads what the arguments name.
    pub fn from_args() -> Job {
        let args: Vec<String> = env::args().collect();
        let (mut bodies, mut rows, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        for line in fs::read_to_string(&args[2]).unwrap().lines() {
            let columns: Vec<&str> = line.splitn(3, '\t').collect();
            let body = *known.entry(columns[0].to_string()).or_insert_with(|| {
                bodies.push(fs::read(format!("{}/{}", args[1], columns[0])).unwrap());
                bodies.len() - 1
            });
            rows.push(Row {
                body,
                url: columns[1].to_string(),
                path: columns[2].to_string(),
            });
        }
        let (agent, out) = (args[3].clone(), args[4].clone());
        Job {
            bodies,
            rows,
            agent,
            out,
            passes: args[5].parse().unwrap(),
        }
    }

    /// Times the library alone and the whole job from the URL, and reports. `parsed`
    /// is what the library made of each body; `allowed` is asked for what `given` says
    /// of a row, and in the whole job for the URL's path with query; it is None, or
    /// panics, where the library fails.
    pub fn run<T>(
        &self,
        name: &str,
        parse_ms: f64,
        parsed: &[T],
        given: impl Fn(&Row) -> &str,
        allowed: impl Fn(&T, &str) -> Option<bool>,
    ) {
        let mut origins = HashMap::new();
        for row in &self.rows {
            if let Ok(url) = Url::parse(&row.url) {
                origins.insert(url[..Position::BeforePath].to_string(), &parsed[row.body]);
            }
        }
        let (mut verdicts, cpu, wall) = self.time(|row| allowed(&parsed[row.body], given(row)));
        let (of_job, job_cpu, job_wall) = self.time(|row| {
            let url = Url::parse(&row.url).ok()?;
            let rules = origins.get(&url[..Position::BeforePath])?;
            allowed(rules, &url[Position::BeforePath..Position::AfterQuery])
        });
        verdicts.extend(of_job);
        fs::write(&self.out, &verdicts).unwrap();
        println!(
            r#"{{"version":"{}","parse_ms":{parse_ms},"cpu_ns_per_url":{cpu},"wall_ns_per_url":{wall},"job_cpu_ns_per_url":{job_cpu},"job_wall_ns_per_url":{job_wall}}}"#,
            locked_version(name),
        );
    }

    /// Evaluates all rows, first to warm up and then against the clock: the verdicts,
    /// and the nanoseconds a row of the processor and of the clock on the wall.
    fn time(&self, allowed: impl Fn(&Row) -> Option<bool>) -> (Vec<u8>, f64, f64) {
        let mut verdicts = vec![0u8; self.rows.len()];
        let mut evaluate = || {
            for _ in 0..self.passes {
                for (row, verdict) in self.rows.iter().zip(verdicts.iter_mut()) {
                    let result = catch_unwind(AssertUnwindSafe(|| allowed(row)));
                    *verdict = result.ok().flatten().map_or(2, u8::from);
                }
            }
        };
        evaluate();
        let (cpu, wall) = (cpu_ns(), Instant::now());
        evaluate();
        let (cpu, wall) = (cpu_ns() - cpu, wall.elapsed().as_nanos() as f64);
        let evaluated = (self.rows.len() * self.passes) as f64;
        (verdicts, cpu / evaluated, wall / evaluated)
    }
}

/// The version of a crate that Cargo.lock names.
fn locked_version(name: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let entry = lock
        .split(&format!("name = \"{name}\"\nversion = \""))
        .nth(1)
        .unwrap();
    entry.split('"').next().unwrap()
}

/// The processor time that the process has used, in and outside the kernel.
pub fn cpu_ns() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
