import crawlercommons.robots.BaseRobotRules;
import crawlercommons.robots.SimpleRobotRulesParser;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.nio.file.*;
import java.util.*;

/** The runner of crawler-commons. */
public class Runner {
    record Row(BaseRobotRules rules, String url) {}
    interface Question { boolean isAllowed(Row row) throws Exception; }

    static final List<Row> rows = new ArrayList<>();
    static final Map<String, BaseRobotRules> origins = new HashMap<>();
    static final StringJoiner report = new StringJoiner(",", "{", "}");

    public static void main(String[] args) throws Exception {
        load(Path.of(args[0]), Path.of(args[1]), args[2].toLowerCase());
        byte[] verdicts = new byte[2 * rows.size()];
        int passes = Integer.parseInt(args[4]);
        measure("", verdicts, 0, passes, row -> row.rules.isAllowed(row.url));
        measure("job_", verdicts, rows.size(), passes, row -> {
            var url = new URL(row.url);
            return origins.get(origin(url)).isAllowed(url);
        });
        Files.write(Path.of(args[3]), verdicts);
        var pom = Runner.class.getResourceAsStream("/META-INF/maven/com.github.crawler-commons/crawler-commons/pom.properties");
        System.out.println(report.add("\"version\":\"" + new PropertyResourceBundle(pom).getString("version") + '"'));
    }

    static void load(Path rules, Path urls, String agent) throws Exception {
        var parser = new SimpleRobotRulesParser();
        var threads = ManagementFactory.getThreadMXBean();
        Map<String, BaseRobotRules> files = new HashMap<>();
        long nanos = 0;
        for (String line : Files.readAllLines(urls)) {
            String[] columns = line.split("\t", 3);
            String file = columns[0], url = columns[1];
            if (!files.containsKey(file)) {
                byte[] body = Files.readAllBytes(rules.resolve(file));
                long start = threads.getCurrentThreadCpuTime();
                try {
                    files.put(file, parser.parseContent(url, body, "text/plain", List.of(agent)));
                } catch (RuntimeException e) {
                    files.put(file, null);
                }
                nanos += threads.getCurrentThreadCpuTime() - start;
            }
            rows.add(new Row(files.get(file), url));
            origins.put(origin(new URL(url)), files.get(file));
        }
        report.add("\"parse_ms\":" + nanos / 1e6);
    }

    static String origin(URL url) { return url.getProtocol() + "://" + url.getAuthority(); }

    /** Evaluates all rows, first to warm up and then against the clock. */
    static void measure(String prefix, byte[] verdicts, int from, int passes, Question question) {
        var os = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        evaluate(verdicts, from, passes, question);
        long cpu = os.getProcessCpuTime(), wall = System.nanoTime();
        evaluate(verdicts, from, passes, question);
        double evaluated = (double) rows.size() * passes;
        report.add("\"" + prefix + "cpu_ns_per_url\":" + (os.getProcessCpuTime() - cpu) / evaluated);
        report.add("\"" + prefix + "wall_ns_per_url\":" + (System.nanoTime() - wall) / evaluated);
    }

    static void evaluate(byte[] verdicts, int from, int passes, Question question) {
        for (int pass = 0; pass < passes; pass++) {
            for (int i = 0; i < rows.size(); i++) {
                try {
                    verdicts[from + i] = (byte) (question.isAllowed(rows.get(i)) ? 1 : 0);
                } catch (Exception e) {
                    verdicts[from + i] = 2;
                }
            }
        }
    }
}
