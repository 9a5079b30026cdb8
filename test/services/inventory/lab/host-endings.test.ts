import { expect, test } from 'vitest';
import { refusalOf } from '../../../../services/inventory/known-hosts.ts';

/** Anybody may register a name that ends like one that is allowed. */
test.each(['evil-lab.example', 'evil.lab.example', '-lab.example', 'evil192.168.1.5', 'evil.192.168.1.5', '[1::5]'])(
  'hosts: %s only ends like a name that is allowed, and is refused',
  (host) => expect(refusalOf({ host }, ['lab.example', '192.168.1.5', '::5'])?.code).toBe('HOST_REFUSED'),
);
