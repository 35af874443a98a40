// The runner of Google's own parser, github.com/google/robotstxt, in the library's words
// "the official way of Google crawler to match robots.txt". Its only call takes the text of a
// robots.txt and a URL, so it parses the text for every URL: that is how people call it, and
// what is timed. How much of that is parsing is measured beside, with a handler that ignores
// what is parsed.

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

#include "robots.h"

namespace {

struct Row {
  size_t body;
  std::string url, path;
};

struct Times {
  double cpu = 0, wall = 0;  // ns
};

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "google: %s\n", why.c_str());
  std::exit(1);
}

std::string ReadFile(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) Fail("cannot read " + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

double CPU() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto nanos = [](const timeval& t) { return t.tv_sec * 1e9 + t.tv_usec * 1e3; };
  return nanos(usage.ru_utime) + nanos(usage.ru_stime);
}

template <typename Work>
Times Measure(int passes, Work pass) {
  auto wall = std::chrono::steady_clock::now();
  double cpu = CPU();
  for (int i = 0; i < passes; i++) pass();
  Times t;
  t.cpu = CPU() - cpu;
  t.wall = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - wall).count();
  return t;
}

// Ignores what is parsed.
class Ignore : public googlebot::RobotsParseHandler {
 public:
  size_t lines = 0;
  void HandleRobotsStart() override {}
  void HandleRobotsEnd() override {}
  void HandleUserAgent(int, absl::string_view) override { lines++; }
  void HandleAllow(int, absl::string_view) override { lines++; }
  void HandleDisallow(int, absl::string_view) override { lines++; }
  void HandleSitemap(int, absl::string_view) override { lines++; }
  void HandleUnknownAction(int, absl::string_view, absl::string_view) override { lines++; }
};

// The part of a URL before its path, in lower case, which names its robots.txt.
std::string OriginOf(const std::string& url) {
  size_t begin = url.find("://");
  size_t end = url.find_first_of("/?#", begin == std::string::npos ? 0 : begin + 3);
  std::string origin = url.substr(0, end);
  for (char& c : origin) c = c >= 'A' && c <= 'Z' ? c + 32 : c;
  return origin;
}

}  // namespace

// Arguments: folder of robots.txt files, list of FILE<tab>URL<tab>PATH, agent, file for the
// verdicts, number of passes.
int main(int count, char** args) {
  if (count != 6) Fail("want RULES LIST AGENT OUT PASSES");
  const std::string rules = args[1], agent = args[3];
  const int passes = std::atoi(args[5]);
  std::vector<std::string> bodies;
  std::vector<Row> rows;
  std::unordered_map<std::string, size_t> known, origins;
  std::ifstream list(args[2]);
  for (std::string line; std::getline(list, line);) {
    size_t first = line.find('\t'), second = line.find('\t', first + 1);
    std::string name = line.substr(0, first);
    auto [it, added] = known.try_emplace(name, bodies.size());
    if (added) bodies.push_back(ReadFile(rules + "/" + name));
    rows.push_back({it->second, line.substr(first + 1, second - first - 1), line.substr(second + 1)});
    origins.emplace(OriginOf(rows.back().url), it->second);
  }

  Ignore ignore;
  Times once = Measure(1, [&] { for (const std::string& body : bodies) googlebot::ParseRobotsTxt(body, &ignore); });
  Times parsing = Measure(1, [&] { for (const Row& row : rows) googlebot::ParseRobotsTxt(bodies[row.body], &ignore); });
  if (ignore.lines == 0) Fail("nothing was parsed");

  std::string verdicts(rows.size(), '\0'), of_job(rows.size(), '\0');
  googlebot::RobotsMatcher matcher;
  Times alone = Measure(passes, [&] {
    for (size_t i = 0; i < rows.size(); i++)
      verdicts[i] = matcher.OneAgentAllowedByRobots(bodies[rows[i].body], agent, rows[i].url);
  });
  Times job = Measure(passes, [&] {
    for (size_t i = 0; i < rows.size(); i++) {
      auto origin = origins.find(OriginOf(rows[i].url));
      if (origin == origins.end()) Fail("no robots.txt for " + rows[i].url);
      of_job[i] = matcher.OneAgentAllowedByRobots(bodies[origin->second], agent, rows[i].url);
    }
  });

  std::ofstream out(args[4], std::ios::binary);
  out << verdicts << of_job;
  if (!out.flush()) Fail(std::string("cannot write ") + args[4]);
  double n = double(rows.size()) * passes;
  std::printf("{\"version\":\"" VERSION "\",\"parse_ms\":%.3f,\"parse_ns_per_url\":%.1f,\"cpu_ns_per_url\":%.1f,"
              "\"wall_ns_per_url\":%.1f,\"job_cpu_ns_per_url\":%.1f,\"job_wall_ns_per_url\":%.1f}\n",
              once.cpu / 1e6, parsing.cpu / double(rows.size()), alone.cpu / n, alone.wall / n, job.cpu / n, job.wall / n);
}
