import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePorts } from '../control-plane/free-ports.ts';
import { launchNow, type SupervisedProcess } from '../control-plane/index.ts';
import { patienceMs } from '../patience.ts';

const program = '/usr/lib/rabbitmq/bin/rabbitmq-server';

/** Why tests of RabbitMQ are skipped. False: it is installed. */
export const rabbitmqMissing: string | false =
  !existsSync(program) && 'needs RabbitMQ: apt-get install --no-install-recommends rabbitmq-server';

interface Ports {
  readonly amqp: number;
  readonly management: number;
  readonly distribution: number;
  readonly names: number;
}

/** It has an Erlang machine and all its applications to start: two minutes on a machine with twenty times as much to do as it can. */
const startLimitMs = 3 * patienceMs;

/** RabbitMQ with its management API on loopback: ports, data and name service of its own. It does not outlive the test. */
export class RabbitmqServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'homeostat-rabbitmq-'));
  readonly #ports: Ports;
  #processes: readonly SupervisedProcess[] = [];
  /** Of the user `admin`. */
  password = 'first';

  private constructor(ports: Ports) {
    this.#ports = ports;
    const configuration = [
      `listeners.tcp.default = 127.0.0.1:${ports.amqp}`,
      'management.tcp.ip = 127.0.0.1',
      `management.tcp.port = ${ports.management}`,
      'default_user = admin',
      `default_pass = ${this.password}`,
      '',
    ];
    writeFileSync(this.#at('rabbitmq.conf'), configuration.join('\n'));
    writeFileSync(this.#at('enabled_plugins'), '[rabbitmq_management].\n');
  }

  static async start(): Promise<RabbitmqServer> {
    const [amqp, management, distribution, names] = (await findFreePorts(4)) as [
      number,
      number,
      number,
      number,
    ];
    const server = new RabbitmqServer({ amqp, management, distribution, names });
    try {
      await server.start();
    } catch (error) {
      await server.halt();
      throw error;
    }
    return server;
  }

  get port(): number {
    return this.#ports.management;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/api`;
  }

  /** Starts it, or starts it again with its data. */
  async start(): Promise<void> {
    const { distribution, names } = this.#ports;
    const shared = {
      HOME: this.#folder,
      ERL_EPMD_PORT: String(names),
      ERL_EPMD_ADDRESS: '127.0.0.1',
    };
    const logFile = this.#at('log');
    // Else the server starts it as a daemon, which outlives the server.
    const epmd = launchNow({ command: 'epmd', args: [], env: shared, logFile });
    const rabbitmq = launchNow({
      ...{ command: program, args: [], logFile },
      env: {
        ...shared,
        RABBITMQ_NODENAME: 'homeostat@localhost',
        RABBITMQ_DIST_PORT: String(distribution),
        RABBITMQ_LOGS: '-',
        RABBITMQ_CONF_ENV_FILE: this.#at('none'),
        RABBITMQ_CONFIG_FILE: this.#at('rabbitmq.conf'),
        RABBITMQ_ENABLED_PLUGINS_FILE: this.#at('enabled_plugins'),
        RABBITMQ_MNESIA_BASE: this.#at('data'),
        RABBITMQ_LOG_BASE: this.#at('logs'),
      },
    });
    this.#processes = [rabbitmq, epmd];
    const deadline = performance.now() + startLimitMs;
    while (!(await this.#responds())) {
      if (!rabbitmq.isRunning() || performance.now() > deadline)
        throw new Error(`RabbitMQ does not start, see ${logFile}`);
      await sleep(100);
    }
  }

  /** Ends the processes. The data is left, for another start. */
  async halt(): Promise<void> {
    for (const each of this.#processes) await each.stop(patienceMs);
    this.#processes = [];
  }

  async stop(): Promise<void> {
    await this.halt();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** What the API answers, by its own client. Undefined: 404, or no content. @throws Error for other failures */
  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await this.#send(method, path, { body });
    if (answer.status === 404) return undefined;
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** Whether a user can log in. */
  async accepts(user: string, password: string): Promise<boolean> {
    return (await this.#send('GET', '/whoami', { user, password })).ok;
  }

  #send(
    method: string,
    path: string,
    {
      body,
      user = 'admin',
      password = this.password,
    }: { readonly body?: unknown; readonly user?: string; readonly password?: string } = {},
  ): Promise<Response> {
    const token = Buffer.from(`${user}:${password}`).toString('base64');
    const headers = { authorization: `Basic ${token}`, 'content-type': 'application/json' };
    return fetch(`${this.url}${path}`, {
      ...{ method, headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async #responds(): Promise<boolean> {
    try {
      return (await this.#send('GET', '/overview')).ok;
    } catch {
      return false;
    }
  }

  #at(name: string): string {
    return join(this.#folder, name);
  }
}
