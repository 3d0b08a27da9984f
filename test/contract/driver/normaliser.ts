import { isJsonObject, type Json } from '../../../src/util/json.ts';

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Of Services: servers give what is free. */
const clusterAddress = /\b10\.(?:0|77|96)\.\d+\.\d+\b/g;
/** `0s`, `5m10s`, `<invalid>` of a clock that is behind. */
const age = /^(?:\d+[smhdy]){1,2}$|^<invalid>$/;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/**
 * Replaces what no two servers have in common. Equal uids and versions get equal names, different ones
 * different names, in the order in which they turn up: "the same resourceVersion" stays visible.
 */
export class Normaliser {
  readonly #names = new Map<string, string>();

  normalise(value: Json): Json {
    return this.#value('', value);
  }

  #value(key: string, value: Json): Json {
    if (Array.isArray(value)) return this.#list(key, value);
    if (isJsonObject(value)) {
      const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
      return withoutOrder(
        Object.fromEntries(
          entries.map(([name, field = null]) => [this.#text(name), this.#value(name, field)]),
        ),
      );
    }
    if (key === 'nodePort' || key === 'healthCheckNodePort') return 'port';
    if (typeof value !== 'string') return value;
    if (key === 'resourceVersion') return value === '' ? '' : this.#name('version', value);
    if (key === 'continue') return value === '' ? '' : 'token';
    return this.#text(value);
  }

  /** Entries of managedFields are ordered by seconds: whether two writes share one is chance. */
  #list(key: string, list: readonly Json[]): Json {
    const items = list.map((item) => this.#value('', item));
    // Tables tell ages, which pass.
    if (key === 'cells')
      return items.map((item) => (typeof item === 'string' && age.test(item) ? 'age' : item));
    if (key !== 'managedFields' && key !== 'causes') return items;
    return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }

  #text(text: string): string {
    return text
      .replaceAll(uid, (found) => this.#name('uid', found))
      .replaceAll(time, 'time')
      .replaceAll(clusterAddress, 'address')
      .replaceAll(/(\d:)3\d{4}\//g, '$1port/')
      .replaceAll(/(resource version: )\d+ \(\d+\)/g, '$1N (M)')
      .replaceAll(/\b\d{1,19}\b/g, (found) => this.#names.get(`version ${found}`) ?? found);
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

/** Where a Status has several causes, the server tells them in no order. */
function withoutOrder(object: Record<string, Json>): Json {
  const { details, message } = object;
  if (object.kind !== 'Status' || !isJsonObject(details) || typeof message !== 'string')
    return object;
  const causes = details.causes;
  if (!Array.isArray(causes) || causes.length < 2) return object;
  return { ...object, message: message.replace(/\[.*\]$/s, '[...]') };
}
