import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;

/** A small Redis client: one connection per thread, one command after the other. */
final class Redis {
  private static final URI URL = URI.create(System.getenv("REDIS_URL"));
  private static final int ANSWER_LIMIT_MS = 900;
  private static final ThreadLocal<Redis> own = new ThreadLocal<>();
  private final OutputStream out;
  private final DataInputStream in;
  private final Socket socket;

  private Redis() throws IOException {
    socket = new Socket(URL.getHost(), URL.getPort());
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(ANSWER_LIMIT_MS);
    out = new BufferedOutputStream(socket.getOutputStream());
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
  }

  /** Sends a command and returns the reply. A broken connection is dropped. */
  static Object call(Object... words) {
    try {
      if (own.get() == null) own.set(new Redis());
      own.get().send(words);
      return own.get().read();
    } catch (IOException error) {
      if (own.get() != null) own.get().close();
      own.remove();
      throw new UncheckedIOException(error);
    }
  }

  private void close() {
    try { socket.close(); } catch (IOException alreadyClosed) { }
  }

  private void send(Object[] words) throws IOException {
    out.write(("*" + words.length + "\r\n").getBytes());
    for (Object word : words) {
      byte[] bytes = word.toString().getBytes(StandardCharsets.UTF_8);
      out.write(("$" + bytes.length + "\r\n").getBytes());
      out.write(bytes);
      out.write("\r\n".getBytes());
    }
    out.flush();
  }

  @SuppressWarnings("deprecation")
  private Object read() throws IOException {
    String line = in.readLine();
    if (line == null) throw new EOFException("Redis has closed the connection.");
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case '+' -> rest;
      case ':' -> Long.valueOf(rest);
      case '$' -> rest.equals("-1") ? null : readString(Integer.parseInt(rest));
      default -> throw new IOException(line);
    };
  }

  private String readString(int length) throws IOException {
    byte[] bytes = in.readNBytes(length + 2);
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }
}
