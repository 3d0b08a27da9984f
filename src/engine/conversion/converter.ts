import { isJsonObject, type JsonObject } from '#util/json.ts';
import { preservedAnnotation } from '#util/stored-names.ts';
import type { ConversionRules, VersionRules } from './conversion-rules.ts';
import { compileDirection, type DirectedRule } from './direction.ts';
import { findLosses, type Loss } from './loss.ts';
import { readPreserved, tooManyLosses, writePreserved } from './preserved.ts';
import { restore } from './restore.ts';
import { parseRulePath, type RuleStep } from './rule-path.ts';
import { isRootField, type ObjectNode, rootNode } from './schema-node.ts';
import { formOfRule, inverseForm, type Transform, type YamlText } from './value-forms.ts';
import { withoutNulls } from './without-nulls.ts';
import { YamlBudget } from './yaml-budget.ts';

export interface ConverterOptions {
  readonly rules: ConversionRules;
  /** The `openAPIV3Schema` of each version of the kind. */
  readonly schemas: ReadonlyMap<string, JsonObject>;
  readonly yaml: YamlText;
  /**
   * The version in which objects are stored. A conversion to it is usually a write: it has a problem instead of losing what does not fit.
   * Without it, what does not fit is always lost, and the object is marked.
   */
  readonly storage?: string;
}

/** The object in the other version; or why it cannot be converted, one sentence without a period at the end. */
export type Converted =
  | { readonly object: JsonObject; readonly problem?: undefined }
  | { readonly problem: string; readonly object?: undefined };

/** Converts objects of one kind between its versions. Stateless, synchronous; objects are not changed. */
export interface Converter {
  /**
   * The object in version `toVersion` (`v1`), in time linear in its size. Never throws. There is a problem only for a version that is not
   * known, and for a write that would lose preserved values: reads do not fail. The result may share parts with the given object.
   */
  convert(object: JsonObject, toVersion: string): Converted;
}

/** A converter between the versions of a kind. Prepares everything that does not depend on an object. */
export function createConverter(options: ConverterOptions): Converter {
  return new TableConverter(options);
}

/** The conversion of the fields of one version, to the hub and back. */
interface Spoke {
  readonly toHub: Transform;
  readonly fromHub: Transform;
  readonly drop: readonly (readonly RuleStep[])[];
}

/** The fields of an object in one version, and what all versions have lost so far. */
interface State {
  readonly fields: JsonObject;
  readonly losses: Map<string, readonly Loss[]>;
}

class TableConverter implements Converter {
  readonly #hub: string;
  readonly #storage: string | undefined;
  readonly #nodes = new Map<string, ObjectNode>();
  readonly #spokes = new Map<string, Spoke>();

  constructor({ rules, schemas, yaml, storage }: ConverterOptions) {
    this.#hub = rules.hub;
    this.#storage = storage;
    for (const [version, schema] of schemas) this.#nodes.set(version, rootNode(schema));
    const hub = this.#nodes.get(rules.hub);
    if (hub === undefined) return;
    for (const [version, node] of this.#nodes) {
      if (version === rules.hub) continue;
      const own = rules.versions.find((each) => each.version === version);
      this.#spokes.set(version, compileSpoke(own, node, hub, yaml));
    }
  }

  convert(object: JsonObject, toVersion: string): Converted {
    const apiVersion = typeof object.apiVersion === 'string' ? object.apiVersion : '';
    const slash = apiVersion.lastIndexOf('/') + 1;
    const from = apiVersion.slice(slash);
    for (const version of [from, toVersion])
      if (!this.#isKnown(version)) return { problem: `Version "${version}" does not exist` };
    if (from === toVersion) return { object };
    const metadata = isJsonObject(object.metadata) ? object.metadata : {};
    const preserved = readPreserved(metadata);
    // A stored object is complete, whatever its annotations say: a user may have copied them.
    const wasIncomplete = preserved.isIncomplete && from !== this.#storage;
    if (wasIncomplete && this.#isWrite(metadata, toVersion))
      return { problem: `Fields of another version are missing in this object: ${tooLarge}` };
    const state = this.#convertFields(object, preserved.losses, from, toVersion);
    const written = writePreserved(metadata, {
      losses: state.losses,
      isIncomplete: wasIncomplete,
    });
    if (!written.isComplete && toVersion === this.#storage && !wasIncomplete)
      return { problem: `Version "${toVersion}" cannot express all fields: ${tooLarge}` };
    const { kind } = object;
    return {
      object: {
        apiVersion: apiVersion.slice(0, slash) + toVersion,
        ...(kind !== undefined && { kind }),
        metadata: written.metadata,
        ...state.fields,
      },
    };
  }

  #isKnown(version: string): boolean {
    return version === this.#hub ? this.#nodes.has(version) : this.#spokes.has(version);
  }

  /**
   * Is the conversion for a write? The API server removes `resourceVersion` before it stores an object, and server-side apply compares
   * objects that have one.
   */
  #isWrite(metadata: JsonObject, toVersion: string): boolean {
    const isStored = this.#storage === undefined || toVersion === this.#storage;
    return isStored && (metadata.resourceVersion ?? '') === '';
  }

  #convertFields(
    object: JsonObject,
    preserved: ReadonlyMap<string, readonly Loss[]>,
    from: string,
    to: string,
  ): State {
    const entries = Object.entries(object).filter(([name]) => !isRootField(name));
    const fields = withoutNulls(Object.fromEntries(entries), this.#nodes.get(from));
    const losses = [...preserved].filter(([version]) => this.#nodes.has(version));
    let state: State = { fields, losses: new Map(losses) };
    if (from !== this.#hub) state = this.#step(state, from, this.#hub, from);
    if (to !== this.#hub) state = this.#step(state, this.#hub, to, to);
    return state;
  }

  #step({ fields, losses }: State, from: string, to: string, spokeVersion: string): State {
    const spoke = this.#spokes.get(spokeVersion);
    const source = this.#nodes.get(from);
    const target = this.#nodes.get(to);
    if (spoke === undefined || source === undefined || target === undefined)
      return { fields, losses };
    const isUp = spokeVersion === from;
    const [there, back] = isUp ? [spoke.toHub, spoke.fromHub] : [spoke.fromHub, spoke.toHub];
    const converted = restore(there(fields) as object, losses.get(to) ?? [], target) as JsonObject;
    const found = findLosses({
      original: fields,
      returned: back(converted),
      node: source,
      drop: spoke.drop,
      most: tooManyLosses,
    });
    const next = new Map(losses);
    next.delete(to);
    next.delete(from);
    if (found.length > 0) next.set(from, found);
    return { fields: converted, losses: next };
  }
}

/** Whether a conversion failed since fields do not fit into annotations: the message of an API server has that of the converter in it. Pure. */
export function isTooLarge(message: string): boolean {
  return message.includes(tooLarge);
}

const tooLarge = `they do not fit into annotations (${preservedAnnotation}). Write it in the version that has all fields`;

function compileSpoke(
  own: VersionRules | undefined,
  node: ObjectNode,
  hub: ObjectNode,
  yaml: YamlText,
): Spoke {
  const rules: DirectedRule[] = [];
  for (const rule of own?.fields ?? []) {
    const from = parseRulePath(rule.here);
    const to = parseRulePath(rule.there);
    if (from !== undefined && to !== undefined) rules.push({ from, to, form: formOfRule(rule) });
  }
  const drop = (own?.drop ?? []).map(parseRulePath).filter((path) => path !== undefined);
  const back = rules.map(({ from, to, form }) => ({ from: to, to: from, form: inverseForm(form) }));
  const budget = new YamlBudget(yaml);
  const [up, down] = [
    { source: node, target: hub, rules, drop },
    { source: hub, target: node, rules: back, drop },
  ];
  return {
    toHub: budget.perObject(compileDirection(up, budget)),
    fromHub: budget.perObject(compileDirection(down, budget)),
    drop,
  };
}
