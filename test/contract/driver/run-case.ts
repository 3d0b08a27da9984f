import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json } from '#util/json.ts';
import type { Backend } from '../../support/backends/index.ts';
import { assertSameRuns } from './compare-runs.ts';
import type {
  ContractCase,
  ContractStep,
  EventsStep,
  PodsStep,
  RequestStep,
  UntilStep,
  WatchStep,
} from './contract-case.ts';
import { Normaliser } from './normaliser.ts';
import { ownersOf } from './owners.ts';
import { reportedEvents } from './reported-events.ts';
import { writePodStatus } from './write-pod-status.ts';

/** A real server's collector of garbage may need several rounds. */
const untilLimitMs = 60_000;

/** What a server answered to one step, without what no two servers have in common. */
export interface StepRecord {
  readonly step: string;
  readonly status: number;
  readonly body: Json;
  readonly warning?: string;
  readonly differs?: Readonly<Record<string, string>>;
  readonly byChance?: readonly string[];
}

export interface CaseRun {
  readonly backend: Backend;
  readonly contractCase: ContractCase;
  readonly variables: Readonly<Record<string, string>>;
  /**
   * What another server answered: steps that wait do so until they see the same, as what they ask for may be seen in
   * passing, too.
   */
  readonly like?: CaseLikeness;
}

export interface CaseLikeness {
  readonly records: readonly StepRecord[];
  /** Dotted paths that are compared nowhere. */
  readonly never: readonly string[];
}

/** Runs a case and returns all answers. @throws AssertionError where an answer is not as expected */
export async function runCase({ backend, contractCase, variables, like }: CaseRun) {
  const run = new RunningCase(backend, variables, like);
  for (const step of contractCase.steps) await run.step(step);
  return run.records;
}

class RunningCase {
  readonly records: StepRecord[] = [];
  readonly #backend: Backend;
  readonly #variables: Map<string, string>;
  readonly #like: CaseLikeness | undefined;
  #normaliser = new Normaliser();

  constructor(
    backend: Backend,
    variables: Readonly<Record<string, string>>,
    like: CaseLikeness | undefined,
  ) {
    this.#backend = backend;
    this.#like = like;
    this.#variables = new Map(Object.entries(variables));
  }

  async step(step: ContractStep): Promise<void> {
    if ('watch' in step) await this.#watch(step);
    else if ('until' in step) await this.#until(step);
    else if ('untilAnswer' in step) await this.#untilAnswer(step.untilAnswer);
    else if ('webhook' in step) await this.#backend.setWebhooks?.(step.webhook === 'starts');
    else if ('pods' in step) await this.#pods(step);
    else if ('events' in step) await this.#events(step);
    else await this.#request(step);
  }

  async #request(step: RequestStep): Promise<void> {
    const { method, expect, save = {} } = step;
    const path = this.#fill(step.path);
    const request = {
      method,
      path,
      headers: this.#headers(step),
      ...(step.body === undefined ? {} : { body: this.#bodyText(step.body) }),
    };
    const answer = await whenReady(() => this.#backend.request(request));
    const body = inOrder(parseBody(answer.text), expect.inOrderOf);
    const reported = `${method} ${path} -> ${answer.status} ${answer.text.slice(0, 3000)}`;
    assert.equal(answer.status, expect.status, reported);
    if (expect.body !== undefined) assertPart(body, this.#fillJson(expect.body), reported);
    if (expect.message !== undefined) {
      const message = isJsonObject(body) ? String(body.message) : '';
      assert.match(message, expect.message, reported);
    }
    if (expect.warning !== undefined)
      assert.match(answer.headers.warning ?? '', expect.warning, reported);
    if (expect.owners !== undefined) {
      const owners = Object.entries(expect.owners).map(([by, paths]) => [by, [...paths].sort()]);
      assert.deepEqual(ownersOf(body), Object.fromEntries(owners), reported);
    }
    for (const [at, pattern] of Object.entries(expect.generated ?? {})) {
      const made = textAt(body, at, reported);
      assert.match(made, pattern, reported);
      this.#normaliser.nameGenerated(made);
    }
    for (const [name, at] of Object.entries(save))
      this.#variables.set(name, textAt(body, at, reported));
    const { warning } = answer.headers;
    this.records.push({
      step: `${method} ${step.path}`,
      status: answer.status,
      body: this.#normaliser.normalise(body),
      ...(warning === undefined ? {} : { warning: inAnyOrder(warning) }),
      ...(expect.differs === undefined ? {} : { differs: expect.differs }),
      ...(expect.byChance === undefined ? {} : { byChance: expect.byChance }),
    });
  }

  async #until({ until: path, expect }: UntilStep): Promise<void> {
    const [count, before] = [this.records.length, this.#normaliser];
    await untilHolds(async () => {
      this.#normaliser = before.copy();
      this.records.length = count;
      await this.#request({ method: 'GET', path, expect });
      const [record, other] = [this.records[count], this.#like?.records[count]];
      if (record === undefined || other === undefined) return;
      assertSameRuns([other], [record], this.#like?.never);
    });
  }

  async #untilAnswer(step: RequestStep): Promise<void> {
    const [count, before] = [this.records.length, this.#normaliser];
    await untilHolds(async () => {
      this.#normaliser = before.copy();
      this.records.length = count;
      await this.#request(step);
    });
  }

  async #pods(step: PodsStep): Promise<void> {
    const namespace = this.#fill('$(ns)');
    await untilHolds(() => writePodStatus({ backend: this.#backend, namespace, step }));
  }

  async #events({ events: about, expect }: EventsStep): Promise<void> {
    const namespace = this.#fill('$(ns)');
    await untilHolds(async () => {
      const reported = await reportedEvents(this.#backend, { namespace, ...about });
      const lines = this.#normaliser.normalise(reported) as readonly string[];
      assert.deepEqual([...lines].sort(), [...expect].sort());
    });
  }

  async #watch(step: WatchStep): Promise<void> {
    const path = this.#fill(step.watch);
    const watch = await whenReady(() => this.#backend.watch(path, this.#headers(step)));
    try {
      assert.equal(watch.status, step.status ?? 200, path);
      for (const during of step.during ?? []) await this.#request(during);
      const events: Json[] = [];
      while (step.events === 'all' || events.length < step.events) {
        const next = await watch.events.next();
        if (next.done === true) break;
        const event = next.value as Json;
        if (!isBookmark(event) || !isDeepStrictEqual(event, events.at(-1))) events.push(event);
      }
      const reported = `${path} -> ${JSON.stringify(events)}`;
      assertPart(events, this.#fillJson(step.expect), reported);
      for (const [name, at] of Object.entries(step.save ?? {}))
        this.#variables.set(name, textAt(events, at, reported));
      const body = this.#normaliser.normalise(events);
      this.records.push({ step: `WATCH ${step.watch}`, status: watch.status, body });
    } finally {
      await watch.close();
    }
  }

  #headers({ headers = {} }: RequestStep | WatchStep): Record<string, string> {
    return {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'contract/1.0',
      ...headers,
    };
  }

  #bodyText(body: Json): string {
    return this.#fill(typeof body === 'string' ? body : JSON.stringify(body));
  }

  #fill(text: string): string {
    return text.replaceAll(/\$\((\w+)\)/g, (_, name: string) => {
      const value = this.#variables.get(name);
      if (value === undefined) throw new Error(`Nothing was saved as "${name}"`);
      return value;
    });
  }

  #fillJson(value: Json): Json {
    return JSON.parse(this.#fill(JSON.stringify(value)));
  }
}

/** @throws AssertionError when there is neither a text nor a number */
function textAt(body: Json, path: string, reported: string): string {
  const value = path.split('.').reduce(childOf, body);
  assert.ok(typeof value === 'string' || typeof value === 'number', `${reported}: no ${path}`);
  return String(value);
}

function childOf(value: unknown, step: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
}

/** A list by what is at a place of its items. */
function inOrder(body: Json, place: readonly string[] | undefined): Json {
  if (place === undefined || !isJsonObject(body) || !Array.isArray(body.items)) return body;
  const keyOf = (item: Json) => String(place.reduce(childOf, item));
  const order = new Intl.Collator('en', { numeric: true });
  const items = body.items.toSorted((a, b) => order.compare(keyOf(a), keyOf(b)));
  return { ...body, items };
}

/** Warnings about rules: the server walks over its maps in no order. */
function inAnyOrder(warning: string): string {
  return warning
    .split(/, (?=299 - )/)
    .sort()
    .join(', ');
}

function isBookmark(event: Json): boolean {
  return isJsonObject(event) && event.type === 'BOOKMARK';
}

function parseBody(text: string): Json {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    // Some answers are plain text.
    return text;
  }
}

/** Is everything that is expected there? Lists must have the same length. */
function assertPart(actual: Json | undefined, expected: Json, reported: string): void {
  if (Array.isArray(expected)) {
    assert.ok(Array.isArray(actual) && actual.length === expected.length, reported);
    for (const [index, item] of expected.entries()) assertPart(actual[index], item, reported);
  } else if (isJsonObject(expected)) {
    assert.ok(isJsonObject(actual), reported);
    for (const [name, field = null] of Object.entries(expected))
      assertPart(actual[name], field, `${name}: ${reported}`);
  } else if (expected === null) assert.ok(actual === null || actual === undefined, reported);
  else assert.deepEqual(actual, expected, reported);
}

/** A real server asks for another try while it builds the storage of a kind anew. No case is about that. */
async function whenReady<Answer extends { readonly status: number }>(
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const deadlineMs = performance.now() + untilLimitMs;
  for (;;) {
    const answer = await ask();
    if (answer.status !== 429 || performance.now() > deadlineMs) return answer;
    await delay(20);
  }
}

/** Tries again while it fails; gives up with the last failure. */
async function untilHolds(check: () => Promise<void>): Promise<void> {
  const deadlineMs = performance.now() + untilLimitMs;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || performance.now() > deadlineMs) throw error;
    }
    await delay(20);
  }
}
