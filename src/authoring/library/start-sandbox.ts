import { rm } from 'node:fs/promises';
import { checkDefinitions, createManifestCheck } from '#check';
import { bundledSchemas } from '#compile';
import { formatDiagnostics } from '#definition';
import { kubeconfigText, writeFileAtomically } from '#dev';
import { startSandboxServer } from '#sandbox/node/index.ts';
import { Simulation, TestCluster } from '#simulation';
import { silentLogger } from '#telemetry';
import { parseJson } from '#util/exact-json.ts';
import { createSystemRandom } from '#util/random.ts';
import type {
  KubeObject,
  ListenOptions,
  Sandbox,
  SandboxListener,
  SandboxOptions,
  SandboxRequest,
  SandboxResponse,
  SourceFile,
  StopSignal,
  WatchEvent,
} from './api.ts';
import { objectsOf } from './given-objects.ts';
import { SandboxTime } from './sandbox-time.ts';
import { sourcesOf } from './source-files.ts';

/** Starts a sandbox, with the operators of its definitions. @throws Error if definitions have errors */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { clock = 'fake', startTime, controllers = true, seed = 1 } = options;
  const definitions = sourcesOf(options.definitions ?? []);
  const check = createManifestCheck(bundledSchemas());
  assertValid(definitions, check);
  const followsSystem = clock === 'system';
  const startMs = followsSystem ? Date.now() : startTime?.getTime();
  const basePath = `/${createSystemRandom().text(32, 'abcdefghijklmnopqrstuvwxyz0123456789')}`;
  const simulation = new Simulation({
    definitions,
    check,
    seed,
    basePath,
    controllers,
    ...(startMs !== undefined && { startMs }),
    simulatesControllers: controllers,
    logger: silentLogger,
  });
  if (definitions.length > 0) {
    await simulation.start();
    const notStarted = await simulation.untilStarted();
    if (notStarted !== undefined) {
      await simulation.close();
      throw new Error(notStarted);
    }
  }
  return new LocalSandbox(simulation, basePath, new SandboxTime({ simulation, followsSystem }));
}

function assertValid(
  definitions: readonly SourceFile[],
  check: ReturnType<typeof createManifestCheck>,
): void {
  const { diagnostics } = checkDefinitions(definitions, { schemas: bundledSchemas(), check });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  const sources = new Map(definitions.map(({ file, text }) => [file, text]));
  throw new Error(
    `The definitions have errors:\n${formatDiagnostics(errors, sources, { color: false })}`,
  );
}

/** The public face of a simulation. */
class LocalSandbox implements Sandbox {
  readonly #simulation: Simulation;
  readonly #basePath: string;
  readonly #time: SandboxTime;
  readonly #cluster: TestCluster;
  readonly #listeners = new Set<SandboxListener>();

  constructor(simulation: Simulation, basePath: string, time: SandboxTime) {
    this.#simulation = simulation;
    this.#basePath = basePath;
    this.#time = time;
    this.#cluster = new TestCluster(simulation);
  }

  get now(): Date {
    return new Date(this.#simulation.clock.nowMs());
  }

  async request(request: SandboxRequest): Promise<SandboxResponse> {
    const { method = 'GET', path, body, headers = {} } = request;
    const usualType =
      method === 'PATCH' ? 'application/merge-patch+json' : 'application/json; charset=utf-8';
    const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const answer = this.#simulation.sandbox.handle({
      method,
      path,
      headers: {
        accept: 'application/json',
        'content-type': usualType,
        'user-agent': 'homeostat',
        ...Object.fromEntries(given),
      },
      body: body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const { status, headers: sent } = answer;
    if (typeof answer.body !== 'string') {
      await answer.body[Symbol.asyncIterator]().return?.();
      throw new Error(`Expected a request with one response, found a watch: "${path}"`);
    }
    await this.#time.settle();
    return { status, headers: sent, body: parseIfJson(answer.body) };
  }

  async apply(objects: KubeObject | readonly KubeObject[] | string): Promise<KubeObject[]> {
    const stored: KubeObject[] = [];
    for (const object of objectsOf(objects)) {
      await this.#cluster.apply(object);
      const found = await this.#cluster.find(object);
      if (found !== undefined) stored.push(found as unknown as KubeObject);
      // A CRD is served before the next object, which may be of its kind.
      await this.#time.settle();
    }
    return stored;
  }

  async get<T = KubeObject>(reference: string): Promise<T | undefined> {
    return (await this.#cluster.findByReference(reference)) as T | undefined;
  }

  async list<T = KubeObject>(kind: string): Promise<readonly T[]> {
    const info = await this.#cluster.kindNamed(kind);
    if (info === undefined) throw new Error(`The server does not serve kind "${kind}"`);
    return (await this.#cluster.list(info)) as unknown as readonly T[];
  }

  async delete(reference: string): Promise<void> {
    await this.#cluster.delete(reference);
    await this.#time.settle();
  }

  async *watch(
    path: string,
    options: { readonly signal?: StopSignal } = {},
  ): AsyncGenerator<WatchEvent> {
    const signal = (options.signal ?? new AbortController().signal) as AbortSignal;
    const [plain = '', query] = path.split('?');
    const flow = { name: 'user', priority: 'object' } as const;
    const parameters = { ...Object.fromEntries(new URLSearchParams(query)), watch: 'true' };
    const { client } = this.#simulation;
    const stream = await client.stream({ path: plain, query: parameters, flow }, signal);
    try {
      for await (const lines of stream.chunks)
        for (const line of lines.split('\n'))
          if (line !== '') yield parseJson(line) as unknown as WatchEvent;
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stream.close();
    }
  }

  settle(): Promise<void> {
    return this.#time.settle();
  }

  advance(ms: number): Promise<void> {
    return this.#time.advance(ms);
  }

  until<T>(
    check: () => T | Promise<T>,
    { withinMs = 5_000 }: { readonly withinMs?: number } = {},
  ): Promise<Exclude<T, undefined | false>> {
    return this.#time.until(check, withinMs);
  }

  setPodOutcome(
    labels: Readonly<Record<string, string>>,
    outcome: 'ready' | 'never-ready' | 'fail',
  ): void {
    this.#simulation.sandbox.setPodOutcome(labels, outcome);
  }

  async listen({ port = 0, writeKubeconfig }: ListenOptions = {}): Promise<SandboxListener> {
    const { sandbox } = this.#simulation;
    const server = await startSandboxServer({ sandbox, basePath: this.#basePath, port });
    const kubeconfig = kubeconfigText(server.url);
    const listener = {
      url: server.url,
      kubeconfig,
      close: async () => {
        if (!this.#listeners.delete(listener)) return;
        await server.stop();
        if (writeKubeconfig !== undefined) await rm(writeKubeconfig, { force: true });
      },
    };
    this.#listeners.add(listener);
    try {
      if (writeKubeconfig !== undefined) await writeFileAtomically(writeKubeconfig, kubeconfig);
    } catch (error) {
      await listener.close();
      throw error;
    }
    return listener;
  }

  async close(): Promise<void> {
    for (const listener of this.#listeners) await listener.close();
    await this.#time.stop();
    await this.#simulation.close();
  }
}

function parseIfJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
