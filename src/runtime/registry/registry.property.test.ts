import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { ScriptedSource, type ScriptedText } from '../../../test/support/fakes/scripted-source.ts';
import { SeededRandom } from '../../../test/support/model/seeded-random.ts';
import { silentLogger } from '../../../test/support/silent-telemetry.ts';
import { type CheckedText, createTextCheck, type TextCheck } from '../check-text.ts';
import type { WantedSet } from '../wanted-definition.ts';
import { Registry } from './registry.ts';

const histories = 60;
const steps = 25;
const names = ['aaa', 'bbb', 'ccc'];
const refs = ['k', 'l', 'm'];

/** One document of a text: without a version it has a mistake. */
interface Written {
  readonly name: string;
  readonly version: number | undefined;
}

type Text =
  | { readonly kind: 'documents'; readonly documents: readonly Written[] }
  | { readonly kind: 'garbled' }
  | { readonly kind: 'unreadable' };

/** What a text offers of a definition. */
interface Offer {
  /** The newest good version. */
  readonly version: number | undefined;
  readonly isRefused: boolean;
}

/** The rules in their simplest form: what each text offers, and whose a name is. */
class Model {
  readonly #offers = new Map<string, Map<string, Offer>>();
  readonly #sinceMs = new Map<string, number>();
  #holders: ReadonlyMap<string, string> = new Map();
  /** By name: the version that runs. */
  #versions: ReadonlyMap<string, number> = new Map();

  write(ref: string, text: Text, sinceMs: number): void {
    const before = this.#offers.get(ref) ?? new Map<string, Offer>();
    if (!this.#sinceMs.has(ref)) this.#sinceMs.set(ref, sinceMs);
    const refuse = ({ version }: Offer): Offer => ({ version, isRefused: true });
    if (text.kind !== 'documents') {
      this.#offers.set(ref, new Map([...before].map(([name, offer]) => [name, refuse(offer)])));
      return;
    }
    const after = new Map<string, Offer>();
    for (const { name, version } of text.documents) {
      const old = before.get(name)?.version;
      after.set(name, { version: version ?? old, isRefused: version === undefined });
    }
    const isUnclear = text.documents.some(
      ({ name, version }) => version === undefined && !before.has(name),
    );
    if (isUnclear)
      for (const [name, offer] of before) if (!after.has(name)) after.set(name, refuse(offer));
    this.#offers.set(ref, after);
  }

  remove(ref: string): void {
    this.#offers.delete(ref);
    this.#sinceMs.delete(ref);
  }

  /** What runs: `name@version`, `!` where something newer is refused, and whose text it is. */
  running(): readonly string[] {
    const holders = new Map<string, string>();
    const versions = new Map<string, number>();
    const running = names.flatMap((name) => {
      const byAge = [...this.#offers]
        .filter(([, offers]) => offers.has(name))
        .map(([ref]) => ref)
        .sort((a, b) => (this.#sinceMs.get(a) ?? 0) - (this.#sinceMs.get(b) ?? 0));
      const offerOf = (ref: string | undefined) => this.#offers.get(ref ?? '')?.get(name);
      const offering = byAge.filter((ref) => offerOf(ref)?.version !== undefined);
      const own = offering.find((each) => each === this.#holders.get(name)) ?? offering[0];
      // A text that has nothing but mistakes goes on with what ran elsewhere.
      const ref = own ?? byAge[0];
      const version = offerOf(ref)?.version ?? this.#versions.get(name);
      if (ref === undefined || version === undefined) return [];
      const isRefused = offerOf(ref)?.isRefused === true;
      this.#offers.get(ref)?.set(name, { version, isRefused });
      holders.set(name, ref);
      versions.set(name, version);
      return [`${name}@${version}${isRefused ? '!' : ''} ${ref}`];
    });
    this.#versions = versions;
    this.#holders = holders;
    return running;
  }
}

function textOf(text: Text): ScriptedText {
  switch (text.kind) {
    case 'garbled':
      return { text: 'kind: [\n' };
    case 'unreadable':
      return { text: '', unreadable: 'permission denied' };
    case 'documents':
      return { text: text.documents.map(documentOf).join('---\n') };
  }
}

function documentOf({ name, version }: Written): string {
  return thingDefinition(
    name,
    version === undefined ? '  reeds: []\n' : `  vars: { version: ${version} }\n`,
  );
}

function randomText(random: SeededRandom, version: number): Text {
  const kind = random.fraction();
  if (kind < 0.1) return { kind: 'garbled' };
  if (kind < 0.2) return { kind: 'unreadable' };
  const chosen = names.filter(() => random.chance(0.5));
  const documents = chosen.map((name) => ({
    name,
    version: random.chance(0.3) ? undefined : version % 5,
  }));
  return { kind: 'documents', documents };
}

function summary({ definitions }: WantedSet): readonly string[] {
  return definitions
    .map(({ located: { definition }, refusal, origin }) => {
      const mark = refusal === undefined ? '' : '!';
      return `${definition.name}@${definition.vars?.version}${mark} ${origin?.ref}`;
    })
    .sort();
}

/** Texts come again and again. */
function remembering(check: TextCheck): TextCheck {
  const known = new Map<string, CheckedText>();
  return (text) => {
    const key = `${text.file} ${text.text}`;
    const result = known.get(key) ?? check(text);
    known.set(key, result);
    return result;
  };
}

describe('runtime/registry: random histories', () => {
  const check = remembering(createTextCheck(undefined));

  test(`${histories} histories of ${steps} edits end as a simple model says`, async () => {
    for (let seed = 1; seed <= histories; seed++) {
      const random = new SeededRandom(seed);
      const clock = new FakeClock();
      const source = new ScriptedSource();
      const stopper = new AbortController();
      let last: WantedSet = { definitions: [] };
      const onWanted = (wanted: WantedSet) => {
        last = wanted;
      };
      const logger = silentLogger();
      const registry = new Registry({ sources: [source], clock, logger, check, onWanted });
      const running = registry.run(stopper.signal);
      const model = new Model();
      const texts: Record<string, ScriptedText> = {};
      const history: string[] = [];
      for (let step = 1; step <= steps; step++) {
        const ref = random.pick(refs) ?? 'k';
        if (random.chance(0.15)) {
          delete texts[ref];
          model.remove(ref);
          history.push(`${ref} removed`);
        } else {
          const text = randomText(random, step);
          texts[ref] = { ...textOf(text), sinceMs: texts[ref]?.sinceMs ?? step };
          model.write(ref, text, step);
          history.push(`${ref} ${JSON.stringify(text)}`);
        }
        source.tell(texts);
        await clock.advance(100);
        const told = `seed ${seed}: ${history.slice(-6).join('; ')}`;
        assert.deepEqual(summary(last), model.running(), told);
      }
      stopper.abort();
      await running;
    }
  });
});
