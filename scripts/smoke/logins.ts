// Every way to log in, tried with the built bundle: what packages need for it must not be among the parts that the bundle leaves out.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { patienceMs } from '../../test/support/patience.ts';

export interface LoginOptions {
  /** The file of the bundle. */
  readonly bundle: string;
  readonly definitions: string;
  /** PEM texts of a certificate for 127.0.0.1 that vouches for itself, and of its key. */
  readonly certificate: string;
  readonly key: string;
}

/** Who a request was from. */
interface Caller {
  readonly authorization: string | undefined;
  readonly impersonates: string | undefined;
  readonly hasCertificate: boolean;
  readonly cameByProxy: boolean;
}

interface Login {
  readonly user: object;
  readonly cluster?: object;
  readonly expected: Partial<Caller>;
}

/** Logs in by each way at a server of our own that looks who is there. */
export async function tryLogins(options: LoginOptions): Promise<readonly string[]> {
  const gate = new Gate(options);
  await gate.start();
  try {
    const logins = loginsAt(gate, options);
    for (const [name, login] of Object.entries(logins)) {
      const caller = await callerOf(login, gate, options);
      for (const [what, value] of Object.entries(login.expected))
        assert.equal(caller[what as keyof Caller], value, `Login by ${name}: ${what}`);
    }
    return Object.keys(logins);
  } finally {
    gate.stop();
  }
}

function loginsAt(gate: Gate, { certificate, key }: LoginOptions): Record<string, Login> {
  const reported = { authorization: 'Bearer told' };
  const answer = (status: object) => JSON.stringify({ kind: 'ExecCredential', status });
  const commanded = {
    'cmd-path': '/bin/echo',
    'cmd-args': `'{"a":{"token":"told"},"expiry":"2099-01-01T00:00:00Z"}'`,
    'token-key': '{.a.token}',
    'expiry-key': '{.expiry}',
  };
  const exec = (status: object) => ({
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: '/bin/echo',
      args: [answer(status)],
    },
  });
  return {
    token: { user: { token: 'told' }, expected: reported },
    'name and password': {
      user: { username: 'jane', password: 'pass' },
      expected: { authorization: 'Basic amFuZTpwYXNz' },
    },
    'client certificate': {
      user: {
        'client-certificate-data': base64(certificate),
        'client-key-data': base64(key),
        as: 'joe',
      },
      expected: { hasCertificate: true, impersonates: 'joe' },
    },
    'exec, token': { user: exec({ token: 'told' }), expected: reported },
    'exec, certificate': {
      user: exec({ clientCertificateData: certificate, clientKeyData: key }),
      expected: { hasCertificate: true },
    },
    gcp: { user: { 'auth-provider': { name: 'gcp', config: commanded } }, expected: reported },
    azure: { user: { 'auth-provider': { name: 'azure', config: commanded } }, expected: reported },
    'oidc, token still good': {
      user: oidc({ 'id-token': gate.identityToken('good', 3_600) }),
      expected: { authorization: `Bearer ${gate.identityToken('good', 3_600)}` },
    },
    'oidc, token refreshed': {
      user: oidc({
        'id-token': gate.identityToken('old', -3_600),
        'refresh-token': 'again',
        'client-id': 'me',
        'idp-issuer-url': gate.url,
        'idp-certificate-authority-data': base64(certificate),
      }),
      expected: { authorization: `Bearer ${gate.identityToken('refreshed', 3_600)}` },
    },
    'proxy-url': {
      user: { token: 'told' },
      cluster: { 'proxy-url': gate.proxyUrl },
      expected: { ...reported, cameByProxy: true },
    },
  };
}

function oidc(config: object): object {
  return { 'auth-provider': { name: 'oidc', config } };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

async function callerOf(login: Login, gate: Gate, options: LoginOptions): Promise<Caller> {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-smoke-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const kubeconfig = file('config', JSON.stringify(kubeconfigOf(login, gate, options)));
  const flags = ['--definitions', options.definitions, '--http', 'off', '--kubeconfig', kubeconfig];
  const child = spawn(process.execPath, [options.bundle, 'run', ...flags]);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const ended = once(child, 'exit');
  const impatience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  try {
    const early = ended.then(() => {
      throw new Error(`Expected a request, there was none: ${said}`);
    });
    return await Promise.race([gate.nextCaller(), early]);
  } finally {
    clearTimeout(impatience);
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  }
}

function kubeconfigOf({ user, cluster }: Login, gate: Gate, { certificate }: LoginOptions): object {
  const trust = { server: gate.url, 'certificate-authority-data': base64(certificate) };
  return {
    'current-context': 'here',
    clusters: [{ name: 'c', cluster: { ...trust, ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
  };
}

/** An HTTPS server that rejects everybody but remembers who asked, an OIDC provider, and a proxy before them. */
class Gate {
  readonly #server: Server;
  readonly #proxy = createHttpServer();
  readonly #startedAtS = Math.floor(Date.now() / 1_000);
  /** Ports that the proxy's connections come from. */
  readonly #proxied = new Set<number | undefined>();
  #tell: (caller: Caller) => void = () => {};

  constructor({ certificate: cert, key }: LoginOptions) {
    this.#server = createServer({ cert, key, requestCert: true, rejectUnauthorized: false });
  }

  async start(): Promise<void> {
    this.#server.on('request', ({ url, headers, socket }, response) => {
      const reply = (status: number, body: object) =>
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify(body));
      if (url === '/.well-known/openid-configuration') return reply(200, this.#provider());
      if (url === '/token') return reply(200, this.#tokens());
      const caller = {
        authorization: headers.authorization,
        impersonates: headers['impersonate-user'] as string | undefined,
        hasCertificate: (socket as TLSSocket).getPeerCertificate().raw !== undefined,
        cameByProxy: this.#proxied.has(socket.remotePort),
      };
      reply(403, { kind: 'Status', code: 403, reason: 'Forbidden' });
      return this.#tell(caller);
    });
    this.#proxy.on('connect', (_request, client) => {
      const upstream = connect(portOf(this.#server), '127.0.0.1', () => {
        this.#proxied.add(upstream.localPort);
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        client.pipe(upstream).pipe(client);
      });
      for (const socket of [client, upstream]) socket.on('error', () => upstream.destroy());
    });
    for (const server of [this.#server, this.#proxy]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
  }

  stop(): void {
    for (const server of [this.#server, this.#proxy]) {
      server.close();
      server.closeAllConnections();
    }
  }

  get url(): string {
    return `https://127.0.0.1:${portOf(this.#server)}`;
  }

  get proxyUrl(): string {
    return `http://127.0.0.1:${portOf(this.#proxy)}`;
  }

  /** The next one who asks for anything of the cluster. */
  nextCaller(): Promise<Caller> {
    return new Promise((resolve) => {
      this.#tell = resolve;
    });
  }

  /** A JWT that nobody signed. */
  identityToken(subject: string, lifetimeS: number): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const iat = this.#startedAtS;
    const claims = { iss: this.url, sub: subject, aud: 'me', iat, exp: iat + lifetimeS };
    return `${part({ alg: 'RS256' })}.${part(claims)}.${part({})}`;
  }

  #provider(): object {
    return { issuer: this.url, token_endpoint: `${this.url}/token` };
  }

  #tokens(): object {
    return {
      access_token: 'unused',
      token_type: 'bearer',
      expires_in: 3_600,
      id_token: this.identityToken('refreshed', 3_600),
    };
  }
}

function portOf(server: Pick<Server, 'address'>): number {
  return (server.address() as AddressInfo).port;
}
