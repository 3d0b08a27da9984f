import { createInterface } from 'node:readline';
import { parseJson } from '#util/exact-json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type PlaneClient, PlaneRequestError } from '../control-plane/index.ts';

type Fields = Readonly<Record<string, unknown>>;
type Seen = KubeObject & { readonly spec: Fields; readonly status?: Fields };

/** The clients of one version of a kind. */
export interface VersionUse {
  readonly version: string;
  /** Applies objects, and is the name of an annotation and of a field of the status that others leave alone. */
  readonly manager: string;
  /** What it applies. */
  readonly spec: (round: number) => Fields;
  /** What it creates in {@link StepLoadOptions.created}. @default nothing */
  readonly whole?: (round: number) => Fields;
  /** Checks any object in this version. @param round what this manager has applied last @throws Error when a field is lost */
  readonly check: (spec: Fields, round?: number) => void;
}

interface StepLoadOptions {
  readonly client: PlaneClient;
  readonly kind: string;
  readonly namespace: string;
  /** The path of the objects in a version. */
  readonly objects: (version: string) => string;
  readonly names: readonly string[];
  /** Another namespace, in which objects are created and deleted. @default none */
  readonly created?: string;
  /**
   * Whether a failure is expected, of an action that began then by `performance.now()`: the action is repeated. Applies take fields by force:
   * an update while conversions fail leaves an object without managers. @default none is
   */
  readonly isExpected?: (message: string, sinceMs: number) => boolean;
}

interface ListAnswer {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Seen[];
}

interface WatchEvent {
  readonly type: string;
  readonly object: Seen;
}

interface Running {
  readonly stopper: AbortController;
  readonly ended: Promise<unknown>;
}

const shownFailures = 5;
/**
 * Between two actions of a client. The API server repeats an apply or a patch for as long as others change the object between its read and its
 * write, which is longer when it has the object converted: without a pause, clients of the stored version would let no other one write.
 */
const pauseMs = 100;

/**
 * Clients that apply, update, read, list and watch the same objects in several versions without a pause, each of which checks that it finds what
 * was written. They repeat what clients repeat by themselves: 429, an update with 409, a watch that has ended or whose version is too old (410).
 */
export class StepLoad {
  readonly failures: string[] = [];
  /** How often which action had a failure that was expected. */
  readonly expected = new Map<string, number>();
  readonly #options: StepLoadOptions;
  readonly #running = new Map<string, Running>();
  readonly #counts = new Map<string, number>();
  readonly #applied = new Map<string, number>();

  constructor(options: StepLoadOptions) {
    this.#options = options;
  }

  /** Starts the clients of a version. */
  start(use: VersionUse): void {
    const stopper = new AbortController();
    const { signal } = stopper;
    const clients = this.#options.names.map((name) => this.#write(use, name, signal));
    const ended = Promise.all([...clients, this.#watch(use, signal)]);
    this.#running.set(use.version, { stopper, ended });
  }

  /** Ends the clients of a version. @param version default all */
  async stop(version?: string): Promise<void> {
    for (const [each, { stopper, ended }] of this.#running) {
      if (version !== undefined && each !== version) continue;
      stopper.abort();
      await ended;
      this.#running.delete(each);
    }
  }

  /** Whether the clients of a version run. */
  isRunning({ version }: VersionUse): boolean {
    return this.#running.has(version);
  }

  /** The round of what the clients of a version have applied last. */
  appliedRound({ version }: VersionUse, name: string): number | undefined {
    return this.#applied.get(`${version} ${name}`);
  }

  /** Waits until something fails, or for some more actions of each sort in these versions. */
  async more(...versions: readonly string[]): Promise<void> {
    await Promise.all(versions.map((version) => this.#moreOf(version, 3)));
  }

  /** Waits until something fails, or for some more expected failures of clients of a version, each of which repeats one action: any. */
  async moreExpected(version: string): Promise<void> {
    const count = () => {
      const counts = [...this.expected].filter(([what]) => what.startsWith(`${version} `));
      return counts.reduce((sum, [, each]) => sum + each, 0);
    };
    const end = count() + 4;
    while (count() < end && this.failures.length === 0) await this.#options.client.sleep(20);
  }

  async #moreOf(version: string, count: number): Promise<void> {
    for (const what of ['apply', 'update', 'status', 'list', 'event']) {
      const end = this.#countOf(`${version} ${what}`) + count;
      while (this.#countOf(`${version} ${what}`) < end && this.failures.length === 0)
        await this.#options.client.sleep(20);
    }
  }

  async #write(use: VersionUse, name: string, signal: AbortSignal): Promise<void> {
    const { client, objects, kind, namespace, isExpected } = this.#options;
    const path = `${objects(use.version)}/${name}`;
    const [, , group] = path.split('/');
    const named = { metadata: { name, namespace }, apiVersion: `${group}/${use.version}`, kind };
    for (let round = 1; !signal.aborted; round++) {
      await this.#try(use, 'apply', async () => {
        const manifest = { ...named, spec: use.spec(round) } as KubeObject;
        const applied = await client.apply<Seen>(manifest, {
          fieldManager: use.manager,
          force: isExpected !== undefined,
        });
        use.check(applied.spec, round);
        this.#applied.set(`${use.version} ${name}`, round);
      });
      await this.#try(use, 'update', () => this.#update(use, path, round));
      await this.#try(use, 'status', async () => {
        await client.patch(`${path}/status`, { status: { [use.manager]: round } });
        const found = await client.must<Seen>({ method: 'GET', path });
        use.check(found.spec, round);
        const { annotations = {} } = found.metadata;
        if (found.status?.[use.manager] !== round || annotations[use.manager] !== `${round}`)
          throw new Error(`Round ${round} is lost: ${JSON.stringify(found)}`);
      });
      await this.#try(use, 'list', async () => {
        for (const { spec } of await client.list<Seen>(objects(use.version))) use.check(spec);
      });
      if (use.whole !== undefined) await this.#create(use, `${name}-${use.version}`, round);
    }
  }

  /** Creates an object, reads it and deletes it. */
  async #create(use: VersionUse, name: string, round: number): Promise<void> {
    const { client, objects, kind, namespace, created = '' } = this.#options;
    const list = objects(use.version).replace(`/${namespace}/`, `/${created}/`);
    const [, , group] = list.split('/');
    const metadata = { name, namespace: created };
    const body = {
      apiVersion: `${group}/${use.version}`,
      kind,
      metadata,
      spec: use.whole?.(round),
    };
    await this.#try(use, 'create', async () => {
      const request = { method: 'POST', path: list, body };
      const answer = await client.request(request);
      // It exists when a response with an expected failure was that of a creation that was carried out.
      if (answer.status !== 201 && answer.status !== 409)
        throw new PlaneRequestError(request, answer);
      const found = await client.must<Seen>({ method: 'GET', path: `${list}/${name}` });
      use.check(found.spec, round);
    });
    await this.#try(use, 'delete', async () => {
      const request = { method: 'DELETE', path: `${list}/${name}` };
      const answer = await client.request(request);
      if (answer.status !== 200 && answer.status !== 404)
        throw new PlaneRequestError(request, answer);
    });
  }

  async #update(use: VersionUse, path: string, round: number): Promise<void> {
    const { client } = this.#options;
    for (;;) {
      const { metadata, ...found } = await client.must<Seen>({ method: 'GET', path });
      const annotations = { ...metadata.annotations, [use.manager]: `${round}` };
      const body = { ...found, metadata: { ...metadata, annotations } };
      const request = { method: 'PUT', path: `${path}?fieldManager=${use.manager}-put`, body };
      const answer = await client.request(request);
      if (answer.status === 409) continue;
      if (answer.status !== 200) throw new PlaneRequestError(request, answer);
      return use.check((answer.body as Seen).spec, round);
    }
  }

  async #watch(use: VersionUse, signal: AbortSignal): Promise<void> {
    const { client, objects } = this.#options;
    while (!signal.aborted)
      await this.#try(use, 'watch', async () => {
        const path = objects(use.version);
        const { metadata, items } = await client.must<ListAnswer>({ method: 'GET', path });
        for (const { spec } of items) use.check(spec);
        const query = `?watch=1&resourceVersion=${metadata.resourceVersion}`;
        await this.#follow(use, path + query, signal);
      });
  }

  /** Until the watch ends. */
  async #follow(use: VersionUse, path: string, signal: AbortSignal): Promise<void> {
    const stream = await this.#options.client
      .openStream({ method: 'GET', path, signal })
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    if (stream === undefined) return;
    try {
      for await (const line of createInterface({ input: stream })) {
        const { type, object } = parseJson(line) as unknown as WatchEvent;
        const { code } = object as { readonly code?: number };
        if (code === 410 || code === 429) return;
        if (stream.statusCode !== 200 || type === 'ERROR') throw new Error(line);
        if (!object.apiVersion.endsWith(`/${use.version}`))
          throw new Error(`Expected ${use.version}, found ${object.apiVersion}`);
        use.check(object.spec);
        this.#add(`${use.version} event`);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #try(use: VersionUse, what: string, act: () => Promise<unknown>): Promise<void> {
    const name = `${use.version} ${what}`;
    while ((await this.#attempt(name, act)) === 'again') await this.#options.client.sleep(pauseMs);
    this.#add(name);
    await this.#options.client.sleep(pauseMs);
  }

  async #attempt(name: string, act: () => Promise<unknown>): Promise<'ended' | 'again'> {
    const startMs = performance.now();
    try {
      await act();
      return 'ended';
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (this.#options.isExpected?.(message, startMs)) {
        this.expected.set(name, (this.expected.get(name) ?? 0) + 1);
        return 'again';
      }
      if (this.failures.length < shownFailures)
        this.failures.push(`${new Date().toISOString()} ${name}: ${message}`);
      return 'ended';
    }
  }

  #add(what: string): void {
    this.#counts.set(what, this.#countOf(what) + 1);
  }

  #countOf(what: string): number {
    return this.#counts.get(what) ?? 0;
  }
}
