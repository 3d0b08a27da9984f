import { deepEqual } from '#util/deep-equal.ts';
import { type JsonObject, jsonLength } from '#util/json.ts';
import type { ConversionRules } from '../conversion-rules.ts';
import { type Converter, createConverter } from '../converter.ts';
import { parseRulePath, type RuleStep } from '../rule-path.ts';
import { type ObjectNode, rootNode } from '../schema-node.ts';
import type { YamlText } from '../value-forms.ts';
import { comparable, hasOnlyDropped } from './comparable.ts';
import { haveKeys } from './have-keys.ts';
import { lostMeanings } from './lost-meanings.ts';
import { isComplete, missingFields } from './missing-fields.ts';
import { type Fraction, mostItems, randomValue, seededFractions } from './random-values.ts';
import { shrink } from './shrink.ts';
import { differences, sideBySide } from './side-by-side.ts';

export interface ProofOptions {
  readonly rules: ConversionRules;
  /** The `openAPIV3Schema` of each version of the kind. */
  readonly schemas: ReadonlyMap<string, JsonObject>;
  readonly yaml: YamlText;
  /** The same seed gives the same objects. @default 1 */
  readonly seed?: number;
  /** How many objects are generated; each is converted to every other version and back. @default 1_000 */
  readonly count?: number;
  /** Another converter, for tests of the proof itself. */
  readonly converter?: Converter;
}

/** What a conversion does wrong with one object. */
export interface RoundTripFailure {
  /** The version of the object. */
  readonly version: string;
  /** The versions it was converted to, the first and the last one included. */
  readonly path: readonly string[];
  /**
   * `lost`: there and back is not equal. `meaning`: a value that a rule is for is another one in the other version, or none: only its
   * annotation keeps it. `required`: the other version has no value in a required field. `rejected`: no object was returned.
   */
  readonly kind: 'lost' | 'meaning' | 'required' | 'rejected';
  /** The smallest object found with this failure. */
  readonly object: JsonObject;
  /** The object in the other version. Undefined: it was rejected. */
  readonly converted: JsonObject | undefined;
  /** The fields that are wrong, as `spec.rules[0].port`: those of `required` are in the other version. None: all of the object. */
  readonly fields: readonly string[];
  /** One line for each field, of the object and of what was returned side by side. */
  readonly difference: string;
}

export interface Proof {
  /** The objects that were converted there and back: fewer than asked for where they are very large. */
  readonly checked: number;
  /** The first failures; at most one for each version, other version and kind. */
  readonly failures: readonly RoundTripFailure[];
}

/**
 * Converts random objects to each other version and back, and compares. The objects are complete, have some of their fields, or are partial
 * with nulls, as server-side apply converts them. Pure: the same options give the same result.
 */
export function proveRoundTrips(options: ProofOptions): Proof {
  const steps = proveInSteps(options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** As {@link proveRoundTrips}. Yields after the conversions of each object, so that its caller can pause or stop. */
export function* proveInSteps(options: ProofOptions): Generator<undefined, Proof, undefined> {
  const { rules, schemas, seed = 1, count = 1_000 } = options;
  const listed = [rules.hub, ...rules.versions.map((each) => each.version), ...schemas.keys()];
  const versions = [...new Set(listed)].filter((version) => schemas.has(version));
  const prover = new Prover(options);
  const fraction = seededFractions(seed);
  let checked = 0;
  for (; checked < count && !prover.isSpent; checked++) {
    const version = versions[checked % versions.length];
    if (version === undefined) break;
    const object = prover.generate(version, fraction);
    for (const other of versions)
      if (other !== version) yield* prover.check(object, version, other);
    yield;
  }
  return { checked, failures: prover.failures };
}

/**
 * How much is converted in all, in characters of JSON: fifty times what a usual schema with a failure needs, and some seconds. Without it,
 * a schema of lists in lists took minutes.
 */
const mostCharacters = 20_000_000;

type Finding = Pick<RoundTripFailure, 'kind' | 'converted' | 'fields' | 'difference'>;
type Steps<Result> = Generator<undefined, Result, undefined>;

class Prover {
  readonly failures: RoundTripFailure[] = [];
  readonly #converter: Converter;
  readonly #nodes: ReadonlyMap<string, ObjectNode>;
  readonly #rules: ConversionRules;
  readonly #texts: readonly string[];
  readonly #found = new Set<string>();
  #left = mostCharacters;

  constructor({ rules, schemas, yaml, converter }: ProofOptions) {
    this.#rules = rules;
    this.#converter = converter ?? createConverter({ rules, schemas, yaml });
    this.#nodes = new Map([...schemas].map(([version, schema]) => [version, rootNode(schema)]));
    this.#texts = rules.versions.flatMap(({ fields }) =>
      fields.flatMap(({ values = {} }) => Object.entries(values).flat()),
    );
  }

  /** Everything that may be converted was. */
  get isSpent(): boolean {
    return this.#left <= 0;
  }

  generate(version: string, fraction: Fraction): JsonObject {
    const node = this.#nodeOf(version);
    const kind = fraction();
    const fields = randomValue(
      { ...node, isNullable: false },
      {
        fraction,
        share: kind < 0.3 ? 1 : 0.3 + fraction() * 0.6,
        isPartial: kind > 0.8,
        texts: this.#texts,
        room: { left: mostItems },
      },
    ) as JsonObject | null;
    const metadata = { name: 'generated', annotations: { 'example.com/a': 'kept' } };
    return { apiVersion: `example.com/${version}`, kind: 'Generated', metadata, ...fields };
  }

  *check(object: JsonObject, version: string, other: string): Steps<void> {
    for (const { kind } of this.#findings(object, version, other)) {
      const key = `${version} ${other} ${kind}`;
      if (this.#found.has(key)) continue;
      this.#found.add(key);
      const smallest = yield* this.#shrink(object, version, other, kind);
      const finding = this.#find(smallest, version, other, kind);
      if (finding === undefined) continue;
      this.failures.push({
        version,
        path: [version, other, version],
        ...finding,
        object: smallest,
      });
    }
  }

  *#shrink(
    object: JsonObject,
    version: string,
    other: string,
    kind: Finding['kind'],
  ): Steps<JsonObject> {
    const { apiVersion, kind: ownKind, metadata, ...fields } = object;
    const whole = (part: unknown) =>
      ({ apiVersion, kind: ownKind, metadata, ...(part as JsonObject) }) as JsonObject;
    const node = this.#nodeOf(version);
    const isValid = (part: unknown) =>
      haveKeys(part, node) && (kind !== 'required' || isComplete(part, node));
    return whole(
      yield* shrink(
        fields,
        (part) =>
          !this.isSpent &&
          isValid(part) &&
          this.#find(whole(part), version, other, kind) !== undefined,
      ),
    );
  }

  #find(
    object: JsonObject,
    version: string,
    other: string,
    kind: Finding['kind'],
  ): Finding | undefined {
    return this.#findings(object, version, other).find((each) => each.kind === kind);
  }

  #findings(object: JsonObject, version: string, other: string): readonly Finding[] {
    this.#left -= jsonLength(object);
    const { object: there, problem } = this.#converter.convert(object, other);
    if (there === undefined)
      return [{ kind: 'rejected', converted: undefined, fields: [], difference: problem }];
    const node = this.#nodeOf(version);
    const [meaning] = lostMeanings({ rules: this.#rules, there, version, other, node });
    return [
      this.#findLost(object, there, version, other),
      meaning && ({ kind: 'meaning', converted: there, ...meaning } as const),
      this.#findMissing(object, there, version, other),
    ].filter((finding) => finding !== undefined);
  }

  #findLost(
    object: JsonObject,
    there: JsonObject,
    version: string,
    other: string,
  ): Finding | undefined {
    const lost = { kind: 'lost', converted: there } as const;
    const back = this.#converter.convert(there, version);
    if (back.object === undefined) return { ...lost, fields: [], difference: back.problem };
    const node = this.#nodeOf(version);
    const drop = this.#drop(version, other);
    const before = comparable(object, node, drop);
    const after = comparable(back.object, node, drop);
    if (deepEqual(before, after)) return undefined;
    // By way of the hub, an object that lacks required fields is not created again from nothing.
    const isByHub = version !== this.#rules.hub && other !== this.#rules.hub;
    if (isByHub && !isComplete(object, node) && hasOnlyDropped(object, node, drop))
      return undefined;
    const fields = differences(before, after).map(({ path }) => path);
    return { ...lost, fields, difference: sideBySide(before, after) };
  }

  #findMissing(
    object: JsonObject,
    there: JsonObject,
    version: string,
    other: string,
  ): Finding | undefined {
    const missing = missingFields(there, this.#nodeOf(other)).filter(
      (path) => !this.#mayBeOdd(path, version, other),
    );
    if (missing.length === 0 || !isComplete(object, this.#nodeOf(version))) return undefined;
    const difference = `${missing.join(', ')}: required, and missing`;
    return { kind: 'required', converted: there, fields: missing, difference };
  }

  /** Is the field that of a rule with a form? An odd text has no value there, and is preserved. */
  #mayBeOdd(path: string, version: string, other: string): boolean {
    const place = path.replaceAll(/\[\d+\]/g, '[]');
    const own = this.#rules.versions.filter((each) => [version, other].includes(each.version));
    const rules = own.flatMap((each) => each.fields).filter((rule) => rule.as !== undefined);
    return rules.some((rule) => place === (other === this.#rules.hub ? rule.there : rule.here));
  }

  #nodeOf(version: string): ObjectNode {
    const empty = {
      fields: new Map(),
      required: [],
      defaulted: [],
      isOpen: false,
      isNullable: false,
    };
    return this.#nodes.get(version) ?? { kind: 'object', ...empty };
  }

  /** All paths that are given up on the way from one version to another. */
  #drop(version: string, other: string): readonly (readonly RuleStep[])[] {
    const own = this.#rules.versions.filter((each) => [version, other].includes(each.version));
    const paths = own.flatMap((each) => each.drop).map(parseRulePath);
    return paths.filter((path) => path !== undefined);
  }
}
