import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, createSystemClock } from '#util/clock.ts';
import { patienceMs } from '../patience.ts';
import type { VirtualTime } from '../virtual-time/index.ts';

/** One answered request, or one watch that was opened. */
export interface AuditEntry {
  /** When the server received it. */
  readonly atMs: number;
  readonly user: string;
  readonly verb: string;
  /** Plural, with a subresource: `deployments`, `podsets/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly status: number;
  readonly uri: string;
}

export interface AuditFilter {
  /** @default 'operator' */
  readonly user?: string;
  /** A mark of `mark()`; counts from the start of the log without it. */
  readonly since?: number;
  /**
   * Also what is reported on definitions themselves (their objects, their revisions): it comes a while later, once a second at most, and is
   * not the cost of a resource. @default false
   */
  readonly ofDefinitions?: boolean;
  /** Every request: also those of definitions, Leases, discovery and OpenAPI (without a resource). @default false */
  readonly everything?: boolean;
}

export interface AuditCounts {
  /** All requests but Events. */
  readonly total: number;
  /** Those of them that are no get, list or watch. */
  readonly writes: number;
  /** Requests for Events, of any verb. */
  readonly events: number;
  /** All requests, Events too: `{ 'patch deployments': 3 }`. */
  readonly by: Readonly<Record<string, number>>;
  /** Those answered with 400 or more: `{ 'patch deployments 409': 1 }`. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface QuietOptions extends Pick<AuditFilter, 'user' | 'ofDefinitions'> {
  /** @default `patienceMs` beyond the quiet time */
  readonly limitMs?: number;
}

const pollMs = 50;
const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/**
 * Counts requests by the audit log of a control plane started with `audit: true`. Leases, discovery
 * and OpenAPI are left out, and what is reported on definitions themselves, unless they are asked for. What a request did may be seen, by a watch, before its line is written: wait
 * with `untilSeen` for what must be there, and with `quiet` for what must not, then count.
 */
export class AuditLog {
  readonly #file: string;
  readonly #entries: AuditEntry[] = [];
  readonly #decoder = new StringDecoder('utf8');
  #offset = 0;
  #rest = '';

  readonly #time: VirtualTime | undefined;
  /** Of a virtual time, hours would pass while a real timer runs. */
  readonly #clock: Clock;

  constructor(plane: { readonly auditFile: string | undefined; readonly time?: VirtualTime }) {
    if (plane.auditFile === undefined) throw new Error('This control plane has no audit log');
    this.#file = plane.auditFile;
    this.#time = plane.time;
    this.#clock = plane.time?.clock ?? createSystemClock();
  }

  /** A mark to count from. */
  mark(): number {
    this.#read();
    return this.#entries.length;
  }

  /** The requests of a user since a mark, in the order of the log. */
  entries(filter: AuditFilter = {}): readonly AuditEntry[] {
    const { user = 'operator', since = 0, ofDefinitions = false, everything = false } = filter;
    this.#read();
    return this.#entries
      .slice(since)
      .filter((entry) => entry.user === user)
      .filter(
        (entry) => everything || (isCounted(entry) && (ofDefinitions || !isOfDefinitions(entry))),
      );
  }

  /** All writes of a user since a mark: of definitions, Events and Leases, too. Questions for rights are none. */
  writes(filter: Pick<AuditFilter, 'user' | 'since'> = {}): readonly AuditEntry[] {
    return this.entries({ ...filter, everything: true }).filter(
      ({ verb, resource }) => !readVerbs.has(verb) && !resource.endsWith('accessreviews'),
    );
  }

  /** Counts the requests of a user since a mark. */
  count(filter: AuditFilter = {}): AuditCounts {
    const entries = this.entries(filter);
    const counted = entries.filter(({ resource }) => resource !== 'events');
    return {
      total: counted.length,
      writes: counted.filter(({ verb }) => !readVerbs.has(verb)).length,
      events: entries.length - counted.length,
      by: tallyOf(entries),
      errors: tally(
        entries.filter(({ status }) => status >= 400),
        ({ verb, resource, status }) => `${verb} ${resource} ${status}`,
      ),
    };
  }

  /**
   * The requests since a mark that a runtime at rest must not send: no Events, no watch, and not the first list of each collection that
   * was listed or watched before. A server ends watches when it likes; one of a custom resource ends as well when the server makes
   * the handler of its CRD anew, after which it no longer knows the resource version (410) and the client must list once.
   */
  atRest(filter: AuditFilter = {}): readonly AuditEntry[] {
    this.#read();
    const known = new Set(
      this.#entries
        .slice(0, filter.since ?? 0)
        .filter(({ verb }) => verb === 'watch' || verb === 'list')
        .map(collectionOf),
    );
    return this.entries(filter).filter((entry) => {
      if (entry.resource === 'events' || entry.verb === 'watch') return false;
      return entry.verb !== 'list' || !known.delete(collectionOf(entry));
    });
  }

  /**
   * Resolves when the requests of a user since a mark satisfy the check.
   * @throws Error with the last requests when that does not happen within `patienceMs`.
   */
  async untilSeen(
    check: (entries: readonly AuditEntry[]) => boolean,
    filter: AuditFilter = {},
  ): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (!check(this.entries(filter))) {
      if (performance.now() > deadline)
        throw new Error(`Waited in vain for requests; last: ${this.#last(filter)}`);
      await this.#clock.sleep(pollMs, new AbortController().signal);
    }
  }

  /**
   * Resolves when a user has sent no request for `quietMs`, counted from this call or the last request after it: of the plane's time
   * where it has its own, else of real time.
   * @throws Error with the last requests when that does not happen within the limit, of real time.
   */
  async quiet(quietMs: number, options: QuietOptions = {}): Promise<void> {
    const { user = 'operator', ofDefinitions = false, limitMs = quietMs + patienceMs } = options;
    const filter = { user, ofDefinitions };
    const deadline = performance.now() + limitMs;
    let quietForMs = 0;
    let seen = this.entries(filter).length;
    for (;;) {
      const isConfirmed = quietForMs >= quietMs;
      // A request that was under way when the time was over is in the log a moment later.
      const passedMs = await this.#pass(isConfirmed ? pollMs : quietMs - quietForMs);
      const { length } = this.entries(filter);
      if (isConfirmed && length === seen) return;
      quietForMs = length > seen ? 0 : quietForMs + passedMs;
      seen = length;
      if (performance.now() > deadline)
        throw new Error(
          `"${user}" was not quiet within ${limitMs} ms; last: ${this.#last(filter)}`,
        );
    }
  }

  /** Lets time pass, at most so much; returns how much has passed in which the user could have sent something. */
  async #pass(mostMs: number): Promise<number> {
    if (this.#time?.isVirtual === true) return this.#time.pass(mostMs);
    const beforeMs = performance.now();
    await sleep(Math.min(pollMs, mostMs));
    // When we slept for much longer, the machine stood still and the user with it: that is no quiet.
    return Math.min(performance.now() - beforeMs, 2 * pollMs);
  }

  #last(filter: AuditFilter): string {
    const last = this.entries(filter).slice(-10);
    return last.map(({ verb, uri, status }) => `${verb} ${uri} ${status}`).join(', ');
  }

  #read(): void {
    if (!existsSync(this.#file)) return;
    const file = openSync(this.#file, 'r');
    const buffer = Buffer.alloc(1 << 18);
    for (;;) {
      const sizeBytes = readSync(file, buffer, 0, buffer.length, this.#offset);
      if (sizeBytes === 0) break;
      this.#offset += sizeBytes;
      const lines = (this.#rest + this.#decoder.write(buffer.subarray(0, sizeBytes))).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#take(JSON.parse(line));
    }
    closeSync(file);
  }

  #take(event: AuditEvent): void {
    const { verb, objectRef, requestURI } = event;
    // A watch is answered when it starts; everything else when it is complete.
    if (event.stage !== (verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete')) return;
    const { resource = '', subresource, namespace = '', name = '' } = objectRef ?? {};
    this.#entries.push({
      atMs: Date.parse(event.requestReceivedTimestamp),
      user: event.user.username,
      verb,
      resource: subresource === undefined ? resource : `${resource}/${subresource}`,
      namespace,
      name,
      status: event.responseStatus?.code ?? 0,
      uri: requestURI,
    });
  }
}

interface AuditEvent {
  readonly stage: string;
  readonly requestReceivedTimestamp: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  /** Absent for discovery, OpenAPI and health. */
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}

function isCounted({ resource }: AuditEntry): boolean {
  return resource !== '' && resource !== 'leases';
}

function isOfDefinitions({ resource, name }: AuditEntry): boolean {
  return resource.startsWith('operatordefinitions') || name === 'operatordefinitions.homeostat.dev';
}

/** The user too: each lists for itself. */
function collectionOf({ user, uri }: AuditEntry): string {
  return `${user} ${uri.split('?', 1)[0]}`;
}

/** How often each verb was sent for each resource: `{ 'patch deployments': 3 }`. */
export function tallyOf(entries: readonly AuditEntry[]): Readonly<Record<string, number>> {
  return tally(entries, ({ verb, resource }) => `${verb} ${resource}`);
}

function tally(
  entries: readonly AuditEntry[],
  keyOf: (entry: AuditEntry) => string,
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const entry of entries) counts[keyOf(entry)] = (counts[keyOf(entry)] ?? 0) + 1;
  return counts;
}
