import { areCompatible, textValues, typeName } from './check-rule.ts';
import { otherSide, type Pairing, type Path, type Side } from './pairing.ts';
import { eachItem, rulePathText } from './rule-path.ts';
import type { ObjectNode, SchemaNode } from './schema-node.ts';
import { formOfRule } from './value-forms.ts';

/** A field that has no place on the other side: an annotation keeps it. */
interface Kept {
  readonly path: Path;
  readonly node: SchemaNode;
  /** The list without keys that it is in. */
  readonly list?: Path | undefined;
}

export interface CoverageOptions {
  readonly pairing: Pairing;
  readonly names: Readonly<Record<Side, string>>;
  readonly report: (message: string, severity: 'error' | 'warning', hint?: string) => void;
}

/** Checks the fields that no rule names: which of them are not copied, and cannot be preserved or mean nothing on the other side. */
export function checkCoverage(options: CoverageOptions): void {
  const kept = { here: [] as Kept[], there: [] as Kept[] };
  for (const side of ['here', 'there'] as const) {
    const walker = new Walker(options, side, kept[side]);
    walker.walkRoot();
    for (const field of kept[side]) reportUnrestorable(field, side, options);
  }
  reportLikelyPairs(kept.here, kept.there, options);
}

class Walker {
  readonly #options: CoverageOptions;
  readonly #side: Side;
  readonly #kept: Kept[];

  constructor(options: CoverageOptions, side: Side, kept: Kept[]) {
    this.#options = options;
    this.#side = side;
    this.#kept = kept;
  }

  walkRoot(): void {
    const root = this.#options.pairing.nodeAt(this.#side, []);
    if (root?.kind === 'object') this.#walkFields(root, [], undefined);
  }

  #walkFields(node: ObjectNode, path: Path, list: Path | undefined): void {
    for (const [name, field] of node.fields) this.#walk(field, [...path, name], list);
  }

  #walk(node: SchemaNode, path: Path, list: Path | undefined): void {
    const { pairing } = this.#options;
    const side = this.#side;
    if (pairing.isDropped(path)) return;
    const own = pairing.ruleAt(side, path);
    const form = own && formOfRule(own.rule);
    if (form !== undefined && form.kind !== 'copy') {
      this.#walkConverted(form, node, path, list);
      return;
    }
    const otherPath = pairing.otherPath(side, path);
    const other = otherPath && pairing.nodeAt(otherSide(side), otherPath);
    if (
      node.kind === 'object' &&
      (other?.kind === 'object' || pairing.hasRulesInside(side, path))
    ) {
      if (other?.kind === 'object') this.#checkRequired(other, otherPath ?? []);
      this.#walkFields(node, path, list);
      return;
    }
    if (other === undefined || otherPath === undefined) {
      if (!this.#isWritten(path)) this.#kept.push({ path, node, list });
      return;
    }
    if (!areCompatible(node, other)) {
      if (own === undefined) this.#reportTypes(node, path, other, otherPath);
      return;
    }
    if (this.#side === 'here') this.#checkEnums(node, path, other, otherPath);
    this.#walkItems(node, path, list);
  }

  /** Items, if they are objects or lists. */
  #walkItems(node: SchemaNode, path: Path, list: Path | undefined): void {
    if (node.kind !== 'list' && node.kind !== 'map') return;
    const { item } = node;
    if (item.kind === 'scalar' || item.kind === 'any') return;
    const isAtomic = node.kind === 'list' && node.listType === 'atomic';
    this.#walk(item, [...path, eachItem], isAtomic ? (list ?? path) : list);
  }

  #walkConverted(
    form: ReturnType<typeof formOfRule>,
    node: SchemaNode,
    path: Path,
    list: Path | undefined,
  ): void {
    if (form.kind === 'mapToList' || form.kind === 'listToMap') this.#walkItems(node, path, list);
    if (form.kind !== 'itemsToObjects' && form.kind !== 'objectsToItems') return;
    // Of objects that become texts, all fields but one are kept.
    if (node.kind !== 'list' || node.item.kind !== 'object') return;
    const atomic = node.listType === 'atomic' ? (list ?? path) : list;
    for (const [name, field] of node.item.fields)
      if (name !== form.field)
        this.#kept.push({ path: [...path, eachItem, name], node: field, list: atomic });
  }

  /** Is it the field with the key of a map that becomes a list? */
  #isWritten(path: Path): boolean {
    const last = path.at(-1);
    if (path.at(-2) !== eachItem) return false;
    const rule = this.#options.pairing.ruleAt(this.#side, path.slice(0, -2));
    const form = rule && formOfRule(rule.rule);
    return (form?.kind === 'mapToList' || form?.kind === 'listToMap') && form.field === last;
  }

  #checkRequired(other: ObjectNode, otherPath: Path): void {
    const { pairing, names, report } = this.#options;
    const side = otherSide(this.#side);
    for (const name of other.required) {
      const path = [...otherPath, name];
      const origin = pairing.otherPath(side, path);
      const node = origin && pairing.nodeAt(this.#side, origin);
      if (node !== undefined || this.#isKeyOf(side, path) || pairing.hasRulesInside(side, path))
        continue;
      report(
        `"${rulePathText(path)}" is required in "${names[side]}", and no field of "${names[this.#side]}" has its value`,
        'error',
        this.#requiredHint(side, path),
      );
    }
  }

  /** What gives a required field a value, with both places. */
  #requiredHint(side: Side, path: Path): string {
    const { names } = this.#options;
    const field = rulePathText(path);
    const origin = `the field of "${names[this.#side]}" with its value`;
    const rule =
      side === 'there'
        ? `{ here: ${origin}, there: ${field} }`
        : `{ here: ${field}, there: ${origin} }`;
    return `Add "default" to "${field}" in the schema of "${names[side]}", or to "fields" of version "${names.here}" a rule ${rule}`;
  }

  #isKeyOf(side: Side, path: Path): boolean {
    return new Walker(this.#options, side, []).#isWritten(path);
  }

  /** Enums without a common value: each of them is kept in an annotation, and no client of the other version sees it. */
  #checkEnums(node: SchemaNode, path: Path, other: SchemaNode, otherPath: Path): void {
    const [own = [], others = []] = [textValues(node), textValues(other)];
    if (own.length === 0 || others.length === 0 || own.some((each) => others.includes(each)))
      return;
    const { names, report } = this.#options;
    report(
      `"${rulePathText(path)}" of "${names.here}" and "${rulePathText(otherPath)}" of "${names.there}" have no common value in their enums: values are not copied`,
      'warning',
      'Add a rule with "values", or drop the field',
    );
  }

  #reportTypes(node: SchemaNode, path: Path, other: SchemaNode, otherPath: Path): void {
    // Both sides find the same pair.
    if (this.#side === 'there') return;
    const { names, report } = this.#options;
    report(
      `"${rulePathText(path)}" is ${typeName(node)} in "${names.here}", and "${rulePathText(otherPath)}" is ${typeName(other)} in "${names.there}": values are not copied`,
      'warning',
      'Add a rule with "as", or drop the field',
    );
  }
}

function reportUnrestorable({ path, list }: Kept, side: Side, { names, report }: CoverageOptions) {
  if (list === undefined) return;
  report(
    `"${rulePathText(path)}" exists in "${names[side]}" only, and is lost when "${rulePathText(list)}" is changed in "${names[otherSide(side)]}": items of that list have no keys`,
    'warning',
    'Set x-kubernetes-list-map-keys, or drop the field',
  );
}

/** Fields that exist on one side only, while the other side has one of the same type beside: probably a rule is missing. */
function reportLikelyPairs(
  here: readonly Kept[],
  there: readonly Kept[],
  { names, pairing, report }: CoverageOptions,
): void {
  for (const field of here) {
    const parent = pairing.otherPath('here', field.path.slice(0, -1));
    if (parent === undefined) continue;
    const others = there.filter(
      (each) =>
        rulePathText(each.path.slice(0, -1)) === rulePathText(parent) &&
        each.node.kind === field.node.kind &&
        field.node.kind !== 'any' &&
        areCompatible(each.node, field.node),
    );
    const [other] = others;
    if (other === undefined) continue;
    report(
      `"${rulePathText(field.path)}" exists in "${names.here}" only, and "${rulePathText(other.path)}" in "${names.there}" only`,
      'warning',
      'Add a rule if they are the same field, or drop the first one',
    );
  }
}
