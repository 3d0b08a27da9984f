import { bundledSchemas } from '#compile';
import { apiVersionOf, type Gvk } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import { step } from '../cel/jsonata.ts';
import { childId } from '../convert/child-id.ts';
import type { ImportReport } from '../import-report.ts';
import type { SourceDocument } from '../importer.ts';
import { globNotes, permissionOf } from '../permission.ts';
import { Explainer, type Observation } from './explain.ts';
import type { HookAnswer } from './hook-answers.ts';
import { parentScope } from './recorded-children.ts';
import { type RecordedRule, relatedRules } from './related-rules.ts';
import { kindOf } from './resource-kinds.ts';

interface RelatedContext {
  readonly documents: readonly SourceDocument[];
  readonly report: ImportReport;
  /** Is the parent namespaced? */
  readonly isNamespaced: boolean;
}

/** The answers of a customize hook as reads. What they have in common with their parents becomes an expression. */
export function relatedReads(
  answers: readonly HookAnswer[],
  context: RelatedContext,
): { readonly reads: readonly JsonObject[]; readonly unexplained: readonly string[] } {
  const asked = answers.filter(({ response }) => response.relatedResources !== undefined);
  const taken = new Set<string>();
  const unexplained: string[] = [];
  const reads = relatedRules(asked).flatMap((rules) => {
    const [first] = rules;
    const place = { name: first.name, pointer: first.pointer };
    const report = context.report.in(first.answer.document.source);
    const { apiVersion, resource } = first.rule;
    const gvk = kindOf(String(apiVersion), String(resource), context.documents);
    if (gvk === undefined) {
      report.leftOut(place, `The kind of "${String(resource)}" is not known`);
      return [];
    }
    const conversion = new RuleConversion(rules, asked, { ...context, report, gvk });
    const own = conversion.reads(taken);
    unexplained.push(...conversion.unexplained);
    return own;
  });
  return { reads, unexplained };
}

interface RuleContext extends Omit<RelatedContext, 'documents'> {
  readonly gvk: Gvk;
}

/** Converts the rules of several answers that correspond to each other. */
class RuleConversion {
  readonly #rules: readonly [RecordedRule, ...RecordedRule[]];
  readonly #answers: readonly HookAnswer[];
  readonly #context: RuleContext;
  readonly #explainer = new Explainer();
  readonly #notes: string[] = [];
  readonly #unexplained: string[] = [];

  constructor(
    rules: readonly [RecordedRule, ...RecordedRule[]],
    answers: readonly HookAnswer[],
    context: RuleContext,
  ) {
    this.#rules = rules;
    this.#answers = answers;
    this.#context = context;
  }

  /** One read, or one for each name. Every part that has no explanation is in the report. */
  reads(taken: Set<string>): readonly JsonObject[] {
    const { gvk, report, isNamespaced } = this.#context;
    const [first] = this.#rules;
    const place = { name: first.name, pointer: first.pointer };
    const namespace = this.#namespace();
    const isClusterScoped = bundledSchemas().isNamespaced(gvk) === false;
    const isEverywhere = !isNamespaced && !isClusterScoped && namespace === undefined;
    const targets = this.#targets(isEverywhere);
    if (targets === undefined) {
      report.leftOut(
        place,
        'The number of names differs between the answers, and no list of the parent has them',
        'Write a read with "selector: all", and select the names in expressions',
      );
      return [];
    }
    if (isEverywhere && targets.some(({ name }) => name !== undefined)) {
      report.leftOut(
        place,
        'It selects a name in all namespaces, and a read by name has one namespace',
        `Write a read with "selector: all" and "namespaces: '*'", and select the name in expressions`,
      );
      return [];
    }
    const permission = namespace === undefined ? undefined : permissionOf(String(namespace));
    const reads = targets.map(({ filter, ...target }) => {
      const isList = target.selector !== undefined || target.optional === true;
      const id = childId(`${gvk.kind}${isList ? 's' : ''}`, taken);
      taken.add(id);
      if (filter !== undefined)
        this.#notes.push(`reads all; the names are those of "reads.${id}[${filter}]"`);
      return {
        id,
        apiVersion: apiVersionOf(gvk),
        kind: gvk.kind,
        ...target,
        ...(namespace !== undefined && { namespace }),
        ...(isEverywhere && { namespaces: '*' }),
        ...(isEverywhere && { crossNamespace: true }),
        ...(permission !== undefined && { crossNamespace: permission }),
      } as JsonObject;
    });
    this.#report(reads, permission);
    return reads;
  }

  /** Undefined: that of the parent, or all of them for a parent without one. */
  #namespace(): Json | undefined {
    const isOwn = this.#rules.every(
      ({ rule, answer }) =>
        rule.namespace === undefined || rule.namespace === answer.parent.metadata.namespace,
    );
    return isOwn ? undefined : this.#explain('namespace', ({ rule }) => rule.namespace);
  }

  /** What selects the objects of each read. Undefined: the names have no explanation. */
  #targets(isEverywhere: boolean): readonly Target[] | undefined {
    const [{ names, rule }] = this.#rules;
    if (names.length === 0) {
      const { labelSelector } = rule;
      return [
        {
          selector: isEmpty(labelSelector)
            ? 'all'
            : (this.#explain('selector', (each) => each.rule.labelSelector) ?? 'all'),
        },
      ];
    }
    const list = this.#explainer.expression(
      this.#observations(({ names: own }) => own),
      ['names'],
    );
    if (list !== undefined) {
      this.#explainer.use(list);
      // A read by name has one namespace. Missing objects are not related.
      return isEverywhere
        ? [{ selector: 'all', filter: `metadata.name in $$.${list}` }]
        : [{ name: `\${ [${list}] }`, optional: true }];
    }
    if (this.#rules.some((each) => each.names.length !== names.length)) return undefined;
    return names.map((_, index) => ({
      name: this.#explain('name', (each) => each.names[index]) ?? null,
    }));
  }

  /** A field of the rules as a template. */
  #explain(field: string, read: (rule: RecordedRule) => Json | undefined): Json | undefined {
    const observations = this.#observations(read);
    const existing = observations.filter(({ value }) => value !== undefined);
    // Where the answer has no such rule, the expression must have no value, too.
    const expression =
      existing.length < observations.length
        ? this.#explainer.expression(observations, [field])
        : undefined;
    return expression === undefined
      ? this.#explainer.explain(existing, [field])
      : this.#explainer.use(expression);
  }

  #observations(read: (rule: RecordedRule) => Json | undefined): readonly Observation[] {
    return this.#answers.map((answer) => {
      const rule = this.#rules.find((each) => each.answer === answer);
      return {
        scope: new Map([...parentScope(answer.parent), ...fieldsOfItems(answer)]),
        value: rule === undefined ? undefined : read(rule),
      };
    });
  }

  /** Paths of values that are right for some parents only: `configMap.name`. */
  get unexplained(): readonly string[] {
    return this.#unexplained;
  }

  #report(reads: readonly JsonObject[], permission: Json | undefined): void {
    const { report } = this.#context;
    const [first] = this.#rules;
    const used = [...this.#explainer.used].sort();
    const literals = new Set(reads.flatMap((read) => literalsOf(read)));
    const isOnly = new Set(this.#answers.map(({ parent }) => parent.metadata.name)).size === 1;
    report.converted({ name: first.name, pointer: first.pointer }, [
      used.length === 0 ? 'as recorded' : `as recorded: read from ${used.join(', ')}`,
      ...(literals.size > 0 ? [`literal: ${[...literals].join(', ')}`] : []),
      ...(literals.size > 0 && isOnly
        ? ['an answer for another parent shows whether they depend on it']
        : []),
      ...(this.#rules.length < this.#answers.length
        ? ['only some answers have it; it is read for every resource']
        : []),
      ...this.#notes,
      ...globNotes(permission),
    ]);
    const ids = reads.map(({ id }) => String(id));
    for (const path of new Set(this.#explainer.unexplained)) {
      this.#unexplained.push(`${ids.join(', ')}: ${path}`);
      const field = path.replace(/^selector/, 'labelSelector').replace(/^name(?=$|\.)/, 'names');
      const [key = ''] = field.split('.');
      report.leftOut(
        { name: `${first.name}.${field}`, pointer: pointerTo(first.pointer, key) },
        'The answers differ, and no field of the parent shows why',
        `Write the expression into read "${ids.join('", "')}"`,
      );
    }
  }
}

/** How the objects of a read are selected: by one name, by a list of names (`optional`), or by labels. */
interface Target {
  readonly name?: Json;
  readonly optional?: true;
  readonly selector?: Json;
  /** Which of the selected objects are meant. */
  readonly filter?: string;
}

function isEmpty(selector: Json | undefined): boolean {
  return (
    !isJsonObject(selector) ||
    Object.values(selector).every(
      (each) => typeof each === 'object' && Object.keys(each ?? {}).length === 0,
    )
  );
}

/** Paths of the texts of a read that are not computed. */
function literalsOf({ name, namespace, selector }: JsonObject): readonly string[] {
  const below = (path: string, value: Json | undefined): readonly string[] => {
    if (typeof value === 'string') return value.includes('${') || value === 'all' ? [] : [path];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, each]) => {
      if (['key', 'operator'].includes(key)) return [];
      return below(Array.isArray(value) ? path : `${path}.${key}`, each as Json);
    });
  };
  return [...below('name', name), ...below('namespace', namespace), ...below('selector', selector)];
}

/** Fields of the items of lists: `spec.env.name` has the names of all items. */
function fieldsOfItems({ parent }: HookAnswer): ReadonlyMap<string, Json> {
  const found = new Map<string, Json[]>();
  const walk = (value: Json | undefined, path: string, isBelowList: boolean): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, path, true);
    else if (isJsonObject(value))
      for (const [key, each] of Object.entries(value))
        walk(each, `${path}.${step(key)}`, isBelowList);
    else if (isBelowList && value !== undefined && value !== null)
      found.set(path, [...(found.get(path) ?? []), value]);
  };
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...fields } = parent;
  for (const [field, value] of Object.entries(fields)) walk(value as Json, step(field), false);
  return found;
}
