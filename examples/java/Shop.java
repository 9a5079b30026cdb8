import com.sun.net.httpserver.*;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.*;
import java.util.concurrent.locks.ReentrantLock;

/** The shop of the course, without Spring: STAGE is the lock, 0 to 8, and LEASE_MS its lease. */
public class Shop {
  static final int STAGE = Integer.parseInt(System.getenv().getOrDefault("STAGE", "8"));
  static final String LEASE_MS = System.getenv().getOrDefault("LEASE_MS", "30000"), PORT = System.getenv("PORT");
  static final String STOCK = "inventory001", LOCK = "zzyyRedisLock", NODE = UUID.randomUUID().toString();
  static final ReentrantLock inProcess = new ReentrantLock();
  static final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  static final String DELETE_IF_OWNER =
      "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
  static final String ENTER = "if redis.call('exists',KEYS[1]) == 1 and redis.call('hexists',KEYS[1],ARGV[1]) == 0 "
      + "then return 0 end redis.call('hincrby',KEYS[1],ARGV[1],1) redis.call('pexpire',KEYS[1],ARGV[2]) return 1";
  static final String LEAVE = "if redis.call('hexists',KEYS[1],ARGV[1]) == 0 then return -1 end "
      + "if redis.call('hincrby',KEYS[1],ARGV[1],-1) == 0 then return redis.call('del',KEYS[1]) end return 0";
  static final String RENEW =
      "if redis.call('hexists',KEYS[1],ARGV[1]) == 1 then return redis.call('pexpire',KEYS[1],ARGV[2]) end return 0";

  static boolean tryLock(String me) {
    if (STAGE <= 3) return Redis.call("SETNX", LOCK, me).equals(1L);
    if (STAGE <= 6) return "OK".equals(Redis.call("SET", LOCK, me, "NX", "PX", LEASE_MS));
    return Redis.call("EVAL", ENTER, 1, LOCK, me, LEASE_MS).equals(1L);
  }

  static void unlock(String me) {
    if (STAGE <= 4) Redis.call("DEL", LOCK);
    else if (STAGE == 5 && me.equals(Redis.call("GET", LOCK))) Redis.call("DEL", LOCK);
    else if (STAGE == 6) Redis.call("EVAL", DELETE_IF_OWNER, 1, LOCK, me);
    else if (STAGE > 6) Redis.call("EVAL", LEAVE, 1, LOCK, me);
  }

  static void renewLater(String me) {
    long third = Long.parseLong(LEASE_MS) / 3;
    Runnable renew = () -> {
      if (Redis.call("EVAL", RENEW, 1, LOCK, me, LEASE_MS).equals(1L)) renewLater(me);
    };
    timer.schedule(renew, third, TimeUnit.MILLISECONDS);
  }

  static String takeOne() {
    Object found = Redis.call("GET", STOCK);
    int left = found == null ? 0 : Integer.parseInt(found.toString());
    if (left <= 0) return "商品卖完了,o(╥﹏╥)o";
    Redis.call("SET", STOCK, left - 1);
    return "成功卖出一个商品,库存剩余: " + (left - 1);
  }

  static String sale() throws InterruptedException {
    if (STAGE == 0) return takeOne();
    if (STAGE == 1) inProcess.lock();
    String me = NODE + ":" + UUID.randomUUID();
    while (STAGE > 2 && !tryLock(me)) Thread.sleep(20);
    if (STAGE == 2 && !tryLock(me)) { Thread.sleep(20); sale(); return ""; } // as in the course: the inner result is lost
    if (STAGE == 8) renewLater(me);
    try { return takeOne(); } finally { if (STAGE == 1) inProcess.unlock(); else unlock(me); }
  }

  static void answer(HttpExchange exchange) throws IOException {
    String text;
    int status = 200;
    try { text = sale() + "\t服务端口号: " + PORT; } catch (Exception error) { text = error.toString(); status = 500; }
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    try (var out = exchange.getResponseBody()) { out.write(body); }
  }

  public static void main(String[] args) throws IOException {
    System.setProperty("sun.net.httpserver.nodelay", "true"); // otherwise a response may be delayed by 40 ms
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(PORT)), 256);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/inventory/sale", Shop::answer);
    server.start();
  }
}
