import crawlercommons.robots.BaseRobotRules;
import crawlercommons.robots.SimpleRobotRulesParser;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** The runner of crawler-commons. */
public class Runner {
    record Row(BaseRobotRules rules, String url) {}

    static final List<Row> rows = new ArrayList<>();
    static long parseNanos;

    public static void main(String[] args) throws Exception {
        load(Path.of(args[0]), Path.of(args[1]), args[2].toLowerCase());
        int passes = Integer.parseInt(args[4]);
        byte[] verdicts = new byte[rows.size()];
        evaluate(verdicts, passes); // to warm up
        long cpu = cpuNanos(), wall = System.nanoTime();
        evaluate(verdicts, passes);
        cpu = cpuNanos() - cpu;
        wall = System.nanoTime() - wall;
        Files.write(Path.of(args[3]), verdicts);
        double evaluated = (double) rows.size() * passes;
        System.out.printf("{\"name\":\"crawler-commons\",\"version\":\"%s\",\"urls\":%d,\"passes\":%d,"
                + "\"cpu_ns_per_url\":%s,\"wall_ns_per_url\":%s,\"parse_ms\":%s}%n",
                version(), rows.size(), passes, cpu / evaluated, wall / evaluated, parseNanos / 1e6);
    }

    static void load(Path rules, Path urls, String agent) throws Exception {
        var parser = new SimpleRobotRulesParser();
        var threads = ManagementFactory.getThreadMXBean();
        Map<String, BaseRobotRules> files = new HashMap<>();
        for (String line : Files.readAllLines(urls)) {
            String[] columns = line.split("\t", 3);
            String file = columns[0], url = columns[1];
            if (!files.containsKey(file)) {
                byte[] body = Files.readAllBytes(rules.resolve(file));
                long start = threads.getCurrentThreadCpuTime();
                files.put(file, parse(parser, url, body, agent));
                parseNanos += threads.getCurrentThreadCpuTime() - start;
            }
            rows.add(new Row(files.get(file), url));
        }
    }

    static BaseRobotRules parse(SimpleRobotRulesParser parser, String url, byte[] body, String agent) {
        try {
            return parser.parseContent(url, body, "text/plain", List.of(agent));
        } catch (RuntimeException e) {
            return null;
        }
    }

    static void evaluate(byte[] verdicts, int passes) {
        for (int pass = 0; pass < passes; pass++) {
            for (int i = 0; i < verdicts.length; i++) {
                try {
                    Row row = rows.get(i);
                    verdicts[i] = (byte) (row.rules.isAllowed(row.url) ? 1 : 0);
                } catch (RuntimeException e) {
                    verdicts[i] = 2;
                }
            }
        }
    }

    static long cpuNanos() {
        var os = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return os.getProcessCpuTime();
    }

    static String version() throws Exception {
        var properties = new Properties();
        properties.load(Runner.class.getResourceAsStream("/META-INF/maven/com.github.crawler-commons/crawler-commons/pom.properties"));
        return properties.getProperty("version");
    }
}
