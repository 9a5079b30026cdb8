"""A shop with redis-py's lock: LOCK=lock, renew (a thread renews it), or none."""

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import redis
from redis.exceptions import LockError, RedisError

STOCK = "inventory001"
LOCK = os.environ.get("LOCK", "lock")
LEASE = int(os.environ.get("LEASE_MS", "30000")) / 1000
shop = redis.Redis.from_url(os.environ["REDIS_URL"], socket_timeout=0.9)


def take_one():
    left = int(shop.get(STOCK) or 0)
    if left <= 0:
        return 409, "sold out"
    shop.set(STOCK, left - 1)
    return 200, f"sold one, {left - 1} left"


def renew(lock, is_over):
    while not is_over.wait(LEASE / 3):
        try:
            lock.reacquire()
        except (LockError, RedisError):
            return


def sale():
    if LOCK == "none":
        return take_one()
    lock = shop.lock("lock:inventory001", timeout=LEASE, blocking_timeout=10, thread_local=False)
    if not lock.acquire():
        return 503, "busy, come again"
    is_over = threading.Event()
    if LOCK == "renew":
        threading.Thread(target=renew, args=(lock, is_over), daemon=True).start()
    try:
        return take_one()
    finally:
        is_over.set()
        try:
            lock.release()
        except LockError as error:
            print(f"not released: {error}", flush=True)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            status, text = sale()
        except RedisError as error:
            status, text = 500, str(error)
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256  # the default is 5: simultaneous buyers would wait a second


Server(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
