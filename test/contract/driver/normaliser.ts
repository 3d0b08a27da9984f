import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Of Services: servers give what is free. */
const clusterAddress = /\b10\.(?:0|77|96)\.\d+\.\d+\b/g;
/** `0s`, `5m10s`, `<invalid>` of a clock that is behind. */
const age = /^(?:\d+[smhdy]){1,2}$|^<invalid>$/;
/** Only where a text says so: a version may be any number, also one that a message tells for another reason. */
const versionInText = /(resource ?version\D{0,40})(\d{1,19})\b/gi;
/** What controllers name after a template, and pods of it: `x-7c5ddbdf54`, `x-7c5ddbdf54-8xkqz`. */
const hash = '[bcdfghjklmnpqrstvwxz2456789]{6,10}';
const afterHash = new RegExp(`\\bx-(${hash})(-[bcdfghjklmnpqrstvwxz2456789]{5})?(?=\\W|$)`, 'g');
const podOfWorkload = /\bx(-\d+)?-[bcdfghjklmnpqrstvwxz2456789]{5}(?=\W|$)/g;
const hashLabels = new Set([
  'pod-template-hash',
  'controller-revision-hash',
  'controller.kubernetes.io/hash',
]);
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/**
 * Whose `resourceVersion` it is: `object` = the write that made it, `list` = a moment, as in the
 * metadata of a list. Others write, too (a real server renews Leases): moments are identified by the newest
 * write that the case has seen by then.
 */
type VersionOf = 'object' | 'list';

/**
 * Replaces what no two servers have in common. Equal uids and versions get equal names, different ones
 * different names, in the order in which they turn up: "the same resourceVersion" stays visible.
 */
export class Normaliser {
  readonly #names = new Map<string, string>();
  readonly #generated: string[] = [];
  #newestVersion = 0;

  /** One that knows the same so far. */
  copy(): Normaliser {
    const copy = new Normaliser();
    for (const [key, name] of this.#names) copy.#names.set(key, name);
    copy.#generated.push(...this.#generated);
    copy.#newestVersion = this.#newestVersion;
    return copy;
  }

  normalise(value: Json): Json {
    return this.#value('', value, 'object');
  }

  /** From now on the text has a name that other servers have for theirs, too. */
  nameGenerated(text: string): void {
    if (!this.#generated.includes(text)) this.#generated.push(text);
  }

  #value(key: string, value: Json, versionOf: VersionOf): Json {
    if (Array.isArray(value)) return this.#list(key, value, versionOf);
    if (isJsonObject(value)) return this.#object(value, versionOf);
    if (key === 'nodePort' || key === 'healthCheckNodePort') return 'port';
    if (typeof value !== 'string') return value;
    if (key === 'resourceVersion') return value === '' ? '' : this.#version(value, versionOf);
    if (hashLabels.has(key) && !value.includes('-')) return this.#name('hash', value);
    if (key === 'continue') return value === '' ? '' : 'token';
    return this.#text(value);
  }

  #object(object: JsonObject, versionOf: VersionOf): Json {
    const [isBookmark, isOfMany] = [object.type === 'BOOKMARK', isListOrTable(object)];
    const entries = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
    return withoutOrder(
      Object.fromEntries(
        entries.map(([name, field = null]) => {
          const isOfList = isBookmark || (isOfMany && name === 'metadata');
          return [this.#text(name), this.#value(name, field, isOfList ? 'list' : versionOf)];
        }),
      ),
    );
  }

  /** Entries of managedFields are ordered by seconds: whether two writes share one is chance. */
  #list(key: string, list: readonly Json[], versionOf: VersionOf): Json {
    const items = list.map((item) => this.#value('', item, versionOf));
    // Tables tell ages, which pass.
    if (key === 'cells')
      return items.map((item) => (typeof item === 'string' && age.test(item) ? 'age' : item));
    if (key !== 'managedFields' && key !== 'causes') return items;
    return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }

  #text(original: string): string {
    const text = this.#generated.reduce(
      (known, made, index) => known.replaceAll(made, `generated-${index + 1}`),
      original,
    );
    return text
      .replace(/(?<=errors:\n)(?: {2}.*\n?)+$/, inLineOrder)
      .replaceAll(uid, (found) => this.#name('uid', found))
      .replaceAll(time, 'time')
      .replaceAll(afterHash, (_, found: string, pod?: string) =>
        `x-${this.#name('hash', found)}`.concat(pod === undefined ? '' : '-pod'),
      )
      .replaceAll(podOfWorkload, 'x$1-pod')
      .replaceAll(clusterAddress, 'address')
      .replaceAll(/(\d:)3\d{4}\//g, '$1port/')
      .replaceAll(/(resource version: )\d+ \(\d+\)/g, '$1N (M)')
      .replaceAll(/(resource version: \d+, current: )\d+/g, '$1M')
      .replaceAll(versionInText, (_, before: string, found: string) =>
        before.concat(this.#names.get(`version ${found}`) ?? found),
      );
  }

  #version(value: string, versionOf: VersionOf): string {
    if (versionOf === 'list') return this.#moment(value);
    this.#newestVersion = Math.max(this.#newestVersion, Number(value));
    return this.#name('version', value);
  }

  #moment(value: string): string {
    // The next page of a list is of its moment, whatever was written since.
    const known = this.#names.get(`moment ${value}`);
    if (known !== undefined) return known;
    if (Number(value) < this.#newestVersion) return this.#name('version', value);
    const newest = this.#names.get(`version ${this.#newestVersion}`) ?? 'the beginning';
    this.#names.set(`moment ${value}`, `since ${newest}`);
    return `since ${newest}`;
  }

  #name(kind: string, value: string): string {
    const key = `${kind} ${value}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const count = [...this.#names.keys()].filter((name) => name.startsWith(kind)).length;
    const name = `${kind}-${count + 1}`;
    this.#names.set(key, name);
    return name;
  }
}

/** Problems of an apply, one a line: the server walks over its maps in no order. */
function inLineOrder(lines: string): string {
  return lines.split('\n').sort().join('\n');
}

function isListOrTable({ kind }: JsonObject): boolean {
  return typeof kind === 'string' && (kind === 'Table' || kind.endsWith('List'));
}

/** Where a Status has several causes, the server tells them in no order. */
function withoutOrder(object: Record<string, Json>): Json {
  const { details, message } = object;
  if (object.kind !== 'Status' || !isJsonObject(details) || typeof message !== 'string')
    return object;
  const causes = details.causes;
  if (!Array.isArray(causes) || causes.length < 2) return object;
  return { ...object, message: message.replace(/\[.*\]$/s, '[...]') };
}
