import type { FieldRule, VersionRules } from './conversion-rules.ts';
import { eachItem, parseRulePath, type RuleStep } from './rule-path.ts';
import { fieldNode, itemNode, type ObjectNode, type SchemaNode } from './schema-node.ts';

export type Path = readonly RuleStep[];
/** A version, or the hub that its rules are to. */
export type Side = 'here' | 'there';

/** A rule with parsed paths, and its position in the rules of its version. */
export interface PlacedRule {
  readonly rule: FieldRule;
  readonly index: number;
  readonly here: Path;
  readonly there: Path;
}

/** Which field of one side is which of the other, by the rules of one version. */
export class Pairing {
  readonly rules: readonly PlacedRule[];
  readonly #nodes: Readonly<Record<Side, ObjectNode>>;
  readonly #drop: ReadonlySet<string>;
  readonly #bySide: Readonly<Record<Side, ReadonlyMap<string, PlacedRule>>>;

  constructor(version: VersionRules, here: ObjectNode, there: ObjectNode) {
    this.rules = version.fields.flatMap((rule, index) => {
      const paths = { here: parseRulePath(rule.here), there: parseRulePath(rule.there) };
      if (paths.here === undefined || paths.there === undefined) return [];
      return [{ rule, index, here: paths.here, there: paths.there }];
    });
    this.#nodes = { here, there };
    this.#drop = new Set(version.drop.map((path) => keyOf(parseRulePath(path) ?? [])));
    this.#bySide = { here: this.#indexed('here'), there: this.#indexed('there') };
  }

  #indexed(side: Side): ReadonlyMap<string, PlacedRule> {
    return new Map(this.rules.map((rule) => [keyOf(rule[side]), rule]));
  }

  ruleAt(side: Side, path: Path): PlacedRule | undefined {
    return this.#bySide[side].get(keyOf(path));
  }

  isDropped(path: Path): boolean {
    return this.#drop.has(keyOf(path));
  }

  /** Does a rule begin or end inside of this path? */
  hasRulesInside(side: Side, path: Path): boolean {
    return this.rules.some(
      (rule) => startsWith(rule[side], path) && rule[side].length > path.length,
    );
  }

  nodeAt(side: Side, path: Path): SchemaNode | undefined {
    let node: SchemaNode | undefined = this.#nodes[side];
    for (const step of path)
      node = node && (step === eachItem ? itemNode(node) : fieldNode(node, step));
    return node;
  }

  /** The path on the other side. Undefined: a rule has its place, or writes there. */
  otherPath(side: Side, path: Path): Path | undefined {
    const other = this.#translated(side, path);
    if (other === undefined || this.isDropped(other)) return undefined;
    const origin = this.#translated(otherSide(side), other);
    return origin !== undefined && keyOf(origin) === keyOf(path) ? other : undefined;
  }

  #translated(side: Side, path: Path): Path | undefined {
    for (let length = path.length; length > 0; length--) {
      const rule = this.ruleAt(side, path.slice(0, length));
      if (rule === undefined) continue;
      const rest = path.slice(length);
      return rest.length === 0 || carriesParts(rule.rule, rest)
        ? [...rule[otherSide(side)], ...rest]
        : undefined;
    }
    return path;
  }
}

/** Do parts of a value keep their paths? In a value that is copied all do, in a map that becomes a list those of its items. */
function carriesParts({ as, values }: FieldRule, rest: Path): boolean {
  if (values !== undefined) return false;
  if (as === undefined) return true;
  const isByKey = typeof as === 'object' && ('mapToList' in as || 'listToMap' in as);
  return isByKey && rest[0] === eachItem;
}

export function otherSide(side: Side): Side {
  return side === 'here' ? 'there' : 'here';
}

function startsWith(path: Path, start: Path): boolean {
  return start.every((step, index) => path[index] === step);
}

function keyOf(path: Path): string {
  return JSON.stringify(path.map((step) => (step === eachItem ? 0 : step)));
}
