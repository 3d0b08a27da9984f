import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { type LeafCertificate, readPair } from '../certificates/certificate.ts';
import { x509Issuer } from '../certificates/take-step.ts';
import { WebhookServer } from './webhook-server.ts';

const lifetime = { fromMs: Date.now() - 60_000, untilMs: Date.now() + 3_600_000 };

async function issue(): Promise<LeafCertificate> {
  const authority = await x509Issuer.issueAuthority(lifetime);
  const { certificate, key } = await x509Issuer.issueLeaf(authority, ['127.0.0.1'], lifetime);
  const pair = readPair(certificate, key);
  assert.ok(pair);
  return pair;
}

/** A server whose responses wait until they are let go, and clients that keep their connections. */
async function withServer(
  use: (rig: {
    readonly server: WebhookServer;
    readonly clock: FakeClock;
    readonly certificate: LeafCertificate;
    readonly ask: (agent: Agent) => Promise<Answer>;
    readonly hold: () => () => void;
  }) => Promise<void>,
): Promise<void> {
  const clock = new FakeClock();
  const certificate = await issue();
  let held: Promise<void> | undefined;
  const server = await WebhookServer.start({
    ...{ host: '127.0.0.1', port: 0, clock, certificate },
    handle: async (asked) => {
      await text(asked);
      await held;
      return { status: 200, body: '{}' };
    },
  });
  const { port } = server;
  const ask = async (agent: Agent) => {
    const sent = request({ host: '127.0.0.1', port, agent, method: 'POST', path: '/' });
    sent.end('{}');
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const fingerprint = (response.socket as TLSSocket).getPeerCertificate().fingerprint256;
    await text(response);
    return { connection: response.headers.connection ?? '', fingerprint };
  };
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return resolve;
  };
  await use({ server, clock, certificate, ask, hold });
}

interface Answer {
  readonly connection: string;
  readonly fingerprint: string;
}

function keepAlive(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
}

describe('conversion-webhook/webhook-server', () => {
  test('a new certificate is for new connections, and open ones stay', async () => {
    await withServer(async ({ server, ask, certificate }) => {
      const agent = keepAlive();
      const before = await ask(agent);
      server.setCertificate(await issue());
      assert.equal((await ask(agent)).fingerprint, before.fingerprint);
      const other = keepAlive();
      assert.notEqual((await ask(other)).fingerprint, before.fingerprint);
      assert.equal(before.fingerprint.replaceAll(':', '').toLowerCase(), certificate.fingerprint);
      agent.destroy();
      other.destroy();
      await server.end({ acceptMs: 0, idleMs: 0 });
    });
  });

  test('while it ends, it accepts connections, and each response ends one', async () => {
    await withServer(async ({ server, clock, ask }) => {
      const [agent, late] = [keepAlive(), keepAlive()];
      assert.equal((await ask(agent)).connection, 'keep-alive');
      const ended = server.end({ acceptMs: 1_000, idleMs: 1_000 });
      assert.equal((await ask(agent)).connection, 'close');
      assert.equal((await ask(late)).connection, 'close');
      await clock.advance(1_000);
      await ended;
      await assert.rejects(ask(keepAlive()), /ECONNREFUSED/);
    });
  });

  test('an idle connection is left to its client, and may be used once more', async () => {
    await withServer(async ({ server, clock, ask }) => {
      const agent = keepAlive();
      await ask(agent);
      const ended = server.end({ acceptMs: 1_000, idleMs: 90_000 });
      await clock.advance(60_000);
      assert.equal((await ask(agent)).connection, 'close');
      await ended;
    });
  });

  test('a request that runs has its response, although nothing is waited for', async () => {
    await withServer(async ({ server, ask, hold }) => {
      const release = hold();
      const agent = keepAlive();
      const answer = ask(agent);
      while (server.running === 0) await new Promise((resolve) => setImmediate(resolve));
      const ended = server.end({ acceptMs: 0, idleMs: 0 });
      release();
      assert.equal((await answer).connection, 'close');
      await ended;
    });
  });
});
