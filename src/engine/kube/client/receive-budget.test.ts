import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { ReceiveBudget, type ServerReceipts } from './receive-budget.ts';

const mib = 1_048_576;

/** 16 MiB, of which 8 are for the response that is read to its end, and 4 are free for all, half a MiB of them for each server. */
function created() {
  const clock = new FakeClock();
  const budget = new ReceiveBudget({ clock, maxBytes: 16 * mib, maxResponseBytes: 8 * mib });
  const log: string[] = [];
  const open = (server: ServerReceipts, name: string) => {
    const note = (what: string) => () => void log.push(`${name} ${what}`);
    return server.open({ pause: note('waits'), resume: note('reads'), expire: note('expires') });
  };
  return { budget, clock, log, open };
}

describe('kube/client receive budget', () => {
  test('what is free is read without order, and small responses never wait', () => {
    const { budget, log, open } = created();
    for (let index = 0; index < 8; index++) open(budget.server(), `a${index}`).add(mib / 2);
    for (let index = 0; index < 100; index++) open(budget.server(), `b${index}`).add(65_536);
    assert.deepEqual(log, []);
  });

  test('one server does not take all that is free', () => {
    const { budget, log, open } = created();
    const greedy = budget.server();
    open(greedy, 'a').add(mib / 2);
    open(greedy, 'b').add(mib / 2);
    assert.deepEqual(log, ['b waits', 'b reads']);
    open(budget.server(), 'c').add(mib / 2);
    assert.equal(log.length, 2);
  });

  test('many responses end, whatever they hold; what is held stays below the maximum', () => {
    const { budget, log, open } = created();
    const held = new Map<string, number>();
    const servers = Array.from({ length: 20 }, () => budget.server());
    const receipts = Array.from({ length: 80 }, (_, index) => {
      const server = servers[index % 20];
      assert.ok(server);
      return { name: `r${index}`, receipt: open(server, `r${index}`) };
    });
    const paused = () => {
      const names = new Set<string>();
      for (const line of log) {
        const [name = '', what] = line.split(' ');
        if (what === 'waits') names.add(name);
        else names.delete(name);
      }
      return names;
    };
    let largest = 0;
    for (let left = receipts; left.length > 0; ) {
      const waiting = paused();
      const reading = left.filter(({ name }) => !waiting.has(name));
      assert.ok(reading.length > 0, 'one can always be read');
      for (const { name, receipt } of reading) {
        if (paused().has(name)) continue;
        const size = (held.get(name) ?? 0) + 65_536;
        receipt.add(65_536);
        held.set(name, size);
        largest = Math.max(
          largest,
          [...held.values()].reduce((a, b) => a + b, 0),
        );
        if (size < 7 * mib) continue;
        receipt.close();
        held.delete(name);
      }
      left = left.filter(({ name }) => held.has(name));
    }
    // Each response that waits may hold two chunks that were free.
    assert.ok(largest <= 16 * mib + 80 * 2 * 65_536, `${largest}`);
  });

  test('servers take turns', () => {
    const { budget, log, open } = created();
    const [first, second] = [budget.server(), budget.server()];
    const all = ['a', 'b', 'c'].map((name) => open(first, name));
    for (const each of all) each.add(7 * mib);
    const other = open(second, 'd');
    other.add(7 * mib);
    // `a` is read to its end; `b`, `c` and `d` wait.
    assert.deepEqual(log, ['a waits', 'a reads', 'b waits', 'c waits', 'd waits']);
    all[0]?.close();
    assert.deepEqual(log.slice(5), ['d reads']);
    other.close();
    assert.deepEqual(log.slice(6), ['b reads']);
  });

  test('a slow response is ended only while another one waits', async () => {
    const { budget, clock, log, open } = created();
    const slow = open(budget.server(), 'slow');
    slow.add(9 * mib);
    assert.deepEqual(log, ['slow waits', 'slow reads']);
    await clock.advance(30_000);
    assert.equal(log.length, 2);
    const next = open(budget.server(), 'next');
    next.add(9 * mib);
    await clock.advance(10_000);
    assert.deepEqual(log.slice(2), ['next waits', 'slow expires']);
    slow.close();
    assert.deepEqual(log.slice(4), ['next reads']);
    next.close();
    next.close();
    assert.equal(clock.pending, 0);
  });

  test('one that is closed while it waits leaves the queue', () => {
    const { budget, log, open } = created();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => {
      const receipt = open(budget.server(), name);
      receipt.add(9 * mib);
      return receipt;
    });
    b?.close();
    a?.close();
    assert.deepEqual(log, ['a waits', 'a reads', 'b waits', 'c waits', 'c reads']);
    c?.close();
  });
});
