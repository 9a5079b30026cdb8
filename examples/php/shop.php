<?php

// A shop with Symfony's Lock component: a request occupies one process of the built-in server, so nothing could renew a lease.

require_once getenv('SYMFONY_LOCK') ?: '/usr/share/php/Symfony/Component/Lock/autoload.php';

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;

const STOCK = 'inventory001';

function takeOne(Redis $redis): array
{
    $left = (int) $redis->get(STOCK);
    if ($left <= 0) {
        return [410, 'nothing left'];
    }
    $redis->set(STOCK, (string) ($left - 1));

    return [200, 'one sold, ' . ($left - 1) . ' left'];
}

function sale(): array
{
    $url = parse_url(getenv('REDIS_URL'));
    $redis = new Redis();
    $redis->connect($url['host'], $url['port'], 1.0);
    $redis->setOption(Redis::OPT_READ_TIMEOUT, 0.9);
    $lease = ((int) (getenv('LEASE_MS') ?: 30000)) / 1000;
    $lock = (new LockFactory(new RedisStore($redis, $lease)))->createLock('inventory', $lease);
    $lock->acquire(true);
    try {
        return takeOne($redis);
    } finally {
        $lock->release();
    }
}

try {
    [$status, $text] = sale();
} catch (Throwable $error) {
    [$status, $text] = [500, get_class($error) . ': ' . $error->getMessage()];
}
http_response_code($status);
header('Content-Type: text/plain; charset=utf-8');
echo $text;
