import {
  type ChildDefinition,
  type ConditionDefinition,
  type DeleteAfterDefinition,
  type EventDefinition,
  kindsOf,
  type LocatedDefinition,
  type PatchDefinition,
  type ReadDefinition,
  type ReportingDefinition,
  type SelectorTemplate,
  type Template,
  valueAt,
} from '#definition';
import { CronSchedules } from '#util/cron-schedules.ts';
import { apiVersionOf, type Gvk, gvkKey } from '#util/gvk.ts';
import { invariant } from '#util/homeostat-error.ts';
import { type JsonObject, pointerTo } from '#util/json.ts';
import { isListRead } from './analysis/list-names.ts';
import { compileForEach } from './compile-kinds.ts';
import { type CoverageRecorder, createLeafRecorder } from './coverage.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { LeafParser } from './language/index.ts';
import type { ScalarType, SchemaType } from './schema/schema-type.ts';
import type { KindTypes } from './schema-source.ts';
import { withSortedKeys } from './template/sorted-keys.ts';
import { type CompiledTemplate, nodeAt, slotTemplate } from './template/template.ts';
import { compileTemplate, type TemplateOptions } from './template/template-compiler.ts';

/** All templates of a definition, compiled separately. References between them are not resolved yet. */
export interface CompiledTemplates {
  readonly vars: ReadonlyMap<string, CompiledTemplate>;
  readonly reads: readonly CompiledRead[];
  readonly children: readonly CompiledChild[];
  /** The children, each once for each of its kinds. */
  readonly objects: readonly CompiledChild[];
  readonly status: ReadonlyMap<string, CompiledTemplate>;
  readonly reporting: CompiledReporting;
  /** When a resource deletes itself. */
  readonly deleteAfter?: CompiledDeleteAfter;
  readonly coverage: CoverageRecorder | undefined;
}

export interface CompiledRead {
  readonly definition: ReadDefinition;
  readonly pointer: string;
  readonly type: SchemaType | undefined;
  /** Whether its value is a list of objects. */
  readonly isList: boolean;
  readonly name?: CompiledTemplate;
  /** `selector` of a list; undefined for `all`. */
  readonly selector?: CompiledSelector;
  readonly namespace?: CompiledTemplate;
  /** A list of names; undefined for `*`. */
  readonly namespaces?: CompiledTemplate;
  readonly namespaceSelector?: CompiledSelector;
  readonly cluster?: CompiledTemplate;
}

export interface CompiledSelector {
  readonly matchLabels?: CompiledTemplate;
  readonly matchExpressions?: CompiledTemplate;
  /** Of a selector that one expression returns: the only template. */
  readonly whole?: CompiledTemplate;
}

/** The templates of a read. */
export function templatesOfRead(read: CompiledRead): readonly CompiledTemplate[] {
  const { name, selector, namespace, namespaces, namespaceSelector, cluster } = read;
  return [
    name,
    selector?.matchLabels,
    selector?.matchExpressions,
    selector?.whole,
    namespace,
    namespaces,
    namespaceSelector?.matchLabels,
    namespaceSelector?.matchExpressions,
    cluster,
  ].filter((template) => template !== undefined);
}

export interface CompiledChild {
  readonly definition: ChildDefinition;
  /** `onDelete`: created only while the resource is being deleted. */
  readonly stage: 'always' | 'onDelete';
  readonly pointer: string;
  readonly type: SchemaType | undefined;
  readonly template: CompiledTemplate;
  /** The template of the name, if it can be rendered separately from the manifest. */
  readonly name?: CompiledTemplate;
  readonly when?: CompiledTemplate;
  readonly forEach?: CompiledTemplate;
  readonly ready?: CompiledTemplate;
  readonly gate?: CompiledTemplate;
  readonly deleteWhen?: CompiledTemplate;
  /** The name of its member cluster. */
  readonly cluster?: CompiledTemplate;
  /** Its `apiVersion` and `kind`, if they are computed. */
  readonly kind?: CompiledTemplate;
  /** With a computed kind: the child for each kind, this one first. They differ in what depends on the kind. */
  readonly variants?: readonly CompiledChild[];
}

/** The child for each of its kinds. */
export function variantsOf(child: CompiledChild): readonly CompiledChild[] {
  return child.variants ?? [child];
}

/** The templates of a {@link DeleteAfterDefinition}. */
export interface CompiledDeleteAfter {
  readonly ttl: CompiledTemplate;
  readonly since: CompiledTemplate;
}

/** The templates of a {@link ReportingDefinition}. */
interface CompiledReporting {
  readonly conditions: readonly CompiledCondition[];
  readonly events: readonly CompiledEvent[];
  readonly patches: readonly CompiledPatch[];
  readonly requeueAfter?: CompiledTemplate;
  /** `schedule.cron` with an expression. */
  readonly cron?: CompiledTemplate;
  /** The schedules of `cron`. */
  readonly schedules?: CronSchedules;
}

export interface CompiledCondition {
  readonly definition: ConditionDefinition;
  readonly status: CompiledTemplate;
  readonly reason?: CompiledTemplate;
  readonly message?: CompiledTemplate;
}

export interface CompiledEvent {
  readonly definition: EventDefinition;
  readonly when: CompiledTemplate;
  readonly reason: CompiledTemplate;
  readonly message?: CompiledTemplate;
}

export interface CompiledPatch {
  readonly definition: PatchDefinition;
  readonly pointer: string;
  readonly type: SchemaType | undefined;
  readonly when?: CompiledTemplate;
  readonly forEach?: CompiledTemplate;
  readonly once?: CompiledTemplate;
  readonly apiVersion?: CompiledTemplate;
  readonly kind?: CompiledTemplate;
  readonly name?: CompiledTemplate;
  readonly namespace?: CompiledTemplate;
  readonly patch: CompiledTemplate;
}

interface PartsOptions {
  readonly located: LocatedDefinition;
  readonly types: KindTypes;
  readonly parser: LeafParser;
  readonly diagnostics: Diagnostics;
  readonly coverage: CoverageRecorder | undefined;
}

const booleanType: ScalarType = {
  kind: 'scalar',
  builtIn: false,
  accepts: ['boolean'],
  format: 'exact',
};
const textType: ScalarType = { ...booleanType, accepts: ['string'] };
const stateType: ScalarType = {
  ...booleanType,
  accepts: ['boolean', 'string'],
  enum: [true, false, 'True', 'False', 'Unknown'],
};
const textsType: SchemaType = {
  kind: 'map',
  builtIn: false,
  atomic: false,
  item: textType,
  keepsNull: false,
};

/** The pointer of a template and its name in messages. */
type At = Pick<TemplateOptions, 'pointer' | 'field'>;

/** An empty field adds no prefix: `when`. */
function below({ pointer, field }: At, name: string): At {
  return { pointer: pointerTo(pointer, name), field: field === '' ? name : `${field}.${name}` };
}

/** Compiles every template of a definition. */
export function compileDefinition({
  located,
  types,
  parser,
  diagnostics,
  coverage,
}: PartsOptions): CompiledTemplates {
  const { definition, pointers, source } = located;
  const recording = coverage && {
    recordLeaf: createLeafRecorder({ definition: definition.name, source, coverage }),
  };

  function compile(
    options: Omit<TemplateOptions, 'parser' | 'diagnostics' | 'quotes' | 'recordLeaf'> &
      Partial<Pick<TemplateOptions, 'quotes'>>,
    into = diagnostics,
  ): CompiledTemplate {
    return compileTemplate({ quotes: true, ...options, parser, diagnostics: into, ...recording });
  }

  /** Compiles the fields that are present in one item. */
  function compileFields<Field extends string>(
    item: object,
    at: At,
    fields: Readonly<Record<Field, SchemaType | undefined>>,
  ): { readonly [Each in Field]?: CompiledTemplate } {
    const written = Object.entries<SchemaType | undefined>(fields).flatMap(([name, type]) => {
      const tree = (item as Readonly<Record<string, unknown>>)[name];
      return tree === undefined ? [] : [[name, compile({ tree, ...below(at, name), type })]];
    });
    return Object.fromEntries(written) as never;
  }

  function compileRead(read: ReadDefinition, index: number): CompiledRead {
    const { id, gvk, by, from } = read;
    const pointer = pointers.reads[index] ?? '';
    const at = { pointer, field: `reads.${id}` };
    const isEverywhere = from.kind === 'list' && from.namespaces === '*';
    const isList = isListRead(read, { definition, types, parser });
    return {
      definition: read,
      pointer,
      type: types.typeOf(gvk),
      isList,
      // The elements are checked as names.
      ...compileFields(by, at, { name: isList ? undefined : textType }),
      ...(by.kind === 'selector' &&
        by.selector !== 'all' && {
          selector: compileSelector(by.selector, below(at, 'selector')),
        }),
      ...(!isEverywhere && compileFields(from, at, { namespace: textType, namespaces: undefined })),
      ...(from.kind === 'selector' && {
        namespaceSelector: compileSelector(from.selector, below(at, 'namespaceSelector')),
      }),
      ...compileFields(read.placement ?? {}, at, { cluster: textType }),
    };
  }

  function compileSelector(selector: SelectorTemplate | string, at: At): CompiledSelector {
    if (typeof selector === 'string')
      return { whole: compile({ tree: selector, ...at, type: undefined }) };
    return compileFields(selector, at, { matchLabels: textsType, matchExpressions: undefined });
  }

  function compileChild(
    child: ChildDefinition,
    pointer: string,
    stage: CompiledChild['stage'],
  ): CompiledChild {
    const manifest = (gvk: Gvk, tree: Template, into?: Diagnostics) => {
      const type = types.typeOf(gvk);
      const template = compile(
        {
          tree,
          pointer: pointerTo(pointer, 'template'),
          field: '',
          type,
          quotes: !kindsOf(child).some(isSecret),
        },
        into,
      );
      const name = nameTemplate(template);
      return { definition: { ...child, gvk }, type, template, ...(name && { name }) };
    };
    const { kind, manifests } = compileKinds(child, pointer, manifest);
    const others = {
      stage,
      pointer,
      ...(kind && { kind }),
      ...compileFields(
        {
          ...child,
          ...(child.forEach !== undefined && { forEach: withSortedKeys(child.forEach) }),
        },
        { pointer, field: '' },
        {
          when: booleanType,
          forEach: undefined,
          ready: booleanType,
          gate: booleanType,
          deleteWhen: booleanType,
        },
      ),
      ...compileFields(child.placement ?? {}, { pointer, field: '' }, { cluster: textType }),
    };
    const variants = manifests.map((each): CompiledChild => ({ ...others, ...each }));
    const [first] = variants;
    invariant(first !== undefined, `Child "${child.id}" has no kind`);
    return kind === undefined ? first : { ...first, variants };
  }

  /** The manifest of a child for each of its kinds. `kind`: what chooses one of them. */
  function compileKinds<Manifest>(
    { kinds, gvk, template }: ChildDefinition,
    pointer: string,
    manifest: (gvk: Gvk, tree: Template, into?: Diagnostics) => Manifest,
  ): { readonly kind?: CompiledTemplate; readonly manifests: readonly Manifest[] } {
    if (kinds === undefined) return { manifests: [manifest(gvk, template)] };
    const { apiVersion, kind: chosen, ...rest } = template as JsonObject;
    const kind = compile({
      tree: { apiVersion, kind: chosen },
      pointer: pointerTo(pointer, 'template'),
      field: '',
      type: textsType,
    });
    const written = { kinds, diagnostics, valueAt: (at: string) => valueAt(located.document, at) };
    const manifests = compileForEach(written, (each, into) =>
      manifest(each, { apiVersion: apiVersionOf(each), kind: each.kind, ...rest }, into),
    );
    return { kind, manifests };
  }

  function conditionParts(condition: ConditionDefinition, index: number): CompiledCondition {
    const at = { pointer: `/spec/conditions/${index}`, field: `conditions.${condition.type}` };
    return {
      definition: condition,
      status: compile({ tree: condition.status, ...below(at, 'status'), type: stateType }),
      ...compileFields(condition, at, { reason: textType, message: textType }),
    };
  }

  function eventParts(event: EventDefinition, index: number): CompiledEvent {
    const at = { pointer: `/spec/events/${index}`, field: `events[${index}]` };
    return {
      definition: event,
      when: compile({ tree: event.when, ...below(at, 'when'), type: booleanType }),
      reason: compile({ tree: event.reason, ...below(at, 'reason'), type: textType }),
      ...compileFields(event, at, { message: textType }),
    };
  }

  function patchParts(definition: PatchDefinition, index: number): CompiledPatch {
    const { id, target, patch, forEach } = definition;
    const at = { pointer: `/spec/patches/${index}`, field: `patches.${id}` };
    const type = target === undefined ? types.resource : target.gvk && types.typeOf(target.gvk);
    return {
      definition,
      pointer: at.pointer,
      type,
      ...compileFields(
        { ...definition, ...(forEach !== undefined && { forEach: withSortedKeys(forEach) }) },
        at,
        { when: booleanType, forEach: undefined, once: undefined },
      ),
      ...compileFields(target?.computed ?? {}, below(at, 'target'), {
        apiVersion: textType,
        kind: textType,
      }),
      ...compileFields(target ?? {}, below(at, 'target'), { name: textType, namespace: textType }),
      patch: compile({ tree: patch, pointer: `${at.pointer}/patch`, field: at.field, type }),
    };
  }

  function deleteAfterParts({ ttl, since }: DeleteAfterDefinition): CompiledDeleteAfter {
    const at = { pointer: '/spec/deleteAfter', field: 'deleteAfter' };
    return {
      ttl: compile({ tree: ttl, ...below(at, 'ttl'), type: textType }),
      since: compile({ tree: since, ...below(at, 'since'), type: textType }),
    };
  }

  const { conditions, events, patches, requeueAfter, cron } =
    definition.reporting ?? emptyReporting;
  // In the order of the document, in which coverage lists them.
  const vars = mapValues(definition.vars, (tree, name) =>
    compile({
      tree: withSortedKeys(tree),
      pointer: pointerTo('/spec/vars', name),
      field: `vars.${name}`,
      type: undefined,
    }),
  );
  const reads = definition.reads.map(compileRead);
  const children = [
    ...definition.children.map((child, index) =>
      compileChild(child, pointers.children[index] ?? '', 'always'),
    ),
    ...(definition.onDelete?.children ?? []).map((child, index) =>
      compileChild(child, pointers.onDelete[index] ?? '', 'onDelete'),
    ),
  ];
  return {
    coverage,
    vars,
    reads,
    children,
    objects: children.flatMap(variantsOf),
    status: mapValues(definition.status, (tree, name) =>
      compile({
        tree: withSortedKeys(tree),
        pointer: pointerTo('/spec/status', name),
        field: `status.${name}`,
        type: types.statusFields?.fields.get(name)?.type,
        unknownField: {
          code: 'unknown-path',
          hint: 'Add it to the status schema of the CRD',
        },
      }),
    ),
    ...(definition.deleteAfter && { deleteAfter: deleteAfterParts(definition.deleteAfter) }),
    reporting: {
      conditions: conditions.map(conditionParts),
      events: events.map(eventParts),
      patches: patches.map(patchParts),
      ...compileFields(
        { requeueAfter },
        { pointer: '/spec', field: '' },
        { requeueAfter: textType },
      ),
      ...compileFields(
        { cron: cron?.expression },
        { pointer: '/spec/schedule', field: 'schedule' },
        { cron: textType },
      ),
      ...(cron && { schedules: new CronSchedules(cron.timeZone) }),
    },
  };
}

const emptyReporting: ReportingDefinition = { conditions: [], events: [], patches: [] };

function nameTemplate(template: CompiledTemplate): CompiledTemplate | undefined {
  const name = nodeAt(template.root, ['metadata', 'name']);
  switch (name?.kind) {
    case 'constant':
      return { ...template, root: name, slots: [], references: [] };
    case 'slot': {
      const slot = template.slots[name.slot];
      return slot && slotTemplate(slot);
    }
    default:
      return undefined;
  }
}

/** Whether a patch writes only objects that have been recorded: their kind, or all of their fields, are computed. */
export function isRestore({ target, patch }: PatchDefinition): boolean {
  return target?.computed !== undefined || typeof patch === 'string';
}

/** Whether the kind is Secret; messages never contain values of Secrets. */
export function isSecret(gvk: Gvk): boolean {
  return gvkKey(gvk) === 'v1/Secret';
}

function mapValues(
  record: Readonly<Record<string, unknown>>,
  compile: (tree: unknown, name: string) => CompiledTemplate,
): ReadonlyMap<string, CompiledTemplate> {
  return new Map(Object.entries(record).map(([name, tree]) => [name, compile(tree, name)]));
}
