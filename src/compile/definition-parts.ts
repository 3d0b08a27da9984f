import type {
  ChildDefinition,
  LocatedDefinition,
  ReadDefinition,
  SelectorTemplate,
} from '../definition/index.ts';
import { type Gvk, gvkKey } from '../util/gvk.ts';
import { pointerTo } from '../util/json-pointer.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { KindTypes } from './kind-types.ts';
import type { LeafParser } from './language/index.ts';
import { compileReporting, type ReportingParts } from './reporting-parts.ts';
import type { ScalarType, SchemaType } from './schema/schema-type.ts';
import type { CompiledTemplate } from './template/template.ts';
import { compileTemplate, type TemplateOptions } from './template/template-compiler.ts';

/** All templates of a definition, compiled one by one; what they read of each other is not looked at yet. */
export interface DefinitionParts {
  readonly vars: ReadonlyMap<string, CompiledTemplate>;
  readonly reads: readonly ReadParts[];
  readonly children: readonly ChildParts[];
  readonly status: ReadonlyMap<string, CompiledTemplate>;
  readonly reporting?: ReportingParts;
}

export interface ReadParts {
  readonly definition: ReadDefinition;
  readonly pointer: string;
  readonly type: SchemaType | undefined;
  readonly name?: CompiledTemplate;
  /** `selector` of a list; left out for `all`. */
  readonly selector?: SelectorParts;
  readonly namespace?: CompiledTemplate;
  /** A list of names; left out for `*`. */
  readonly namespaces?: CompiledTemplate;
  readonly namespaceSelector?: SelectorParts;
}

export interface SelectorParts {
  readonly matchLabels?: CompiledTemplate;
  readonly matchExpressions?: CompiledTemplate;
}

/** All templates that say what a read asks for. */
export function templatesOfRead(read: ReadParts): readonly CompiledTemplate[] {
  const { name, selector, namespace, namespaces, namespaceSelector } = read;
  return [
    name,
    selector?.matchLabels,
    selector?.matchExpressions,
    namespace,
    namespaces,
    namespaceSelector?.matchLabels,
    namespaceSelector?.matchExpressions,
  ].filter((template) => template !== undefined);
}

export interface ChildParts {
  readonly definition: ChildDefinition;
  /** `onDelete`: made only in a resource that is being deleted. */
  readonly stage: 'always' | 'onDelete';
  readonly pointer: string;
  readonly type: SchemaType | undefined;
  readonly template: CompiledTemplate;
  readonly when?: CompiledTemplate;
  readonly forEach?: CompiledTemplate;
  readonly ready?: CompiledTemplate;
  readonly deleteWhen?: CompiledTemplate;
}

export interface PartsOptions {
  readonly located: LocatedDefinition;
  readonly types: KindTypes;
  readonly parser: LeafParser;
  readonly diagnostics: Diagnostics;
}

type OptionalField = 'when' | 'forEach' | 'ready' | 'deleteWhen';

const booleanType: ScalarType = {
  kind: 'scalar',
  builtIn: false,
  accepts: ['boolean'],
  format: 'exact',
};
const textType: ScalarType = { ...booleanType, accepts: ['string'] };
const textsType: SchemaType = {
  kind: 'map',
  builtIn: false,
  atomic: false,
  item: textType,
  keepsNull: false,
};

/** Compiles every template of a definition. */
export function compileParts({
  located,
  types,
  parser,
  diagnostics,
}: PartsOptions): DefinitionParts {
  const { definition, pointers } = located;
  const compile = (
    options: Omit<TemplateOptions, 'parser' | 'diagnostics' | 'quotes'> & {
      readonly quotes?: boolean;
    },
  ) => compileTemplate({ quotes: true, ...options, parser, diagnostics });

  function compileRead(read: ReadDefinition, index: number): ReadParts {
    const pointer = pointers.reads[index] ?? '';
    const { by, id } = read;
    const field = (name: string) => ({
      pointer: pointerTo(pointer, name),
      field: `reads.${id}.${name}`,
    });
    const selector =
      by.kind === 'selector' && by.selector !== 'all'
        ? compileSelector(by.selector, field('selector'))
        : undefined;
    return {
      definition: read,
      pointer,
      type: types.typeOf(read.gvk),
      ...(by.kind === 'name' && {
        name: compile({ tree: by.name, ...field('name'), type: textType }),
      }),
      ...(selector && { selector }),
      ...compileNamespaces(read.from, field),
    };
  }

  function compileNamespaces(
    from: ReadDefinition['from'],
    field: (name: string) => Pick<TemplateOptions, 'pointer' | 'field'>,
  ): Pick<ReadParts, 'namespace' | 'namespaces' | 'namespaceSelector'> {
    switch (from.kind) {
      case 'own':
        return {};
      case 'one': {
        const options = { tree: from.namespace, ...field('namespace'), type: textType };
        return { namespace: compile(options) };
      }
      case 'list': {
        if (from.namespaces === '*') return {};
        const options = { tree: from.namespaces, ...field('namespaces'), type: undefined };
        return { namespaces: compile(options) };
      }
      case 'selector':
        return { namespaceSelector: compileSelector(from.selector, field('namespaceSelector')) };
    }
  }

  function compileSelector(
    { matchLabels, matchExpressions }: SelectorTemplate,
    { pointer, field }: Pick<TemplateOptions, 'pointer' | 'field'>,
  ): SelectorParts {
    const part = (name: string) => ({
      pointer: pointerTo(pointer, name),
      field: `${field}.${name}`,
    });
    return {
      ...(matchLabels !== undefined && {
        matchLabels: compile({ tree: matchLabels, ...part('matchLabels'), type: textsType }),
      }),
      ...(matchExpressions !== undefined && {
        matchExpressions: compile({
          tree: matchExpressions,
          ...part('matchExpressions'),
          type: undefined,
        }),
      }),
    };
  }

  function compileChild(
    child: ChildDefinition,
    pointer: string,
    stage: ChildParts['stage'],
  ): ChildParts {
    const type = types.typeOf(child.gvk);
    const template = compile({
      tree: child.template,
      pointer: pointerTo(pointer, 'template'),
      field: '',
      type,
      quotes: !isSecret(child.gvk),
    });
    const optional = (field: OptionalField, fieldType: SchemaType | undefined) =>
      child[field] === undefined
        ? undefined
        : compile({
            tree: child[field],
            pointer: pointerTo(pointer, field),
            field,
            type: fieldType,
          });
    const when = optional('when', booleanType);
    const forEach = optional('forEach', undefined);
    const ready = optional('ready', booleanType);
    const deleteWhen = optional('deleteWhen', booleanType);
    return {
      definition: child,
      stage,
      pointer,
      type,
      template,
      ...(when && { when }),
      ...(forEach && { forEach }),
      ...(ready && { ready }),
      ...(deleteWhen && { deleteWhen }),
    };
  }

  const { reporting } = definition;
  const statusTypes = types.statusFields;
  return {
    ...(reporting && { reporting: compileReporting(reporting, { types, compile }) }),
    vars: mapValues(definition.vars, (tree, name) =>
      compile({
        tree,
        pointer: pointerTo('/spec/vars', name),
        field: `vars.${name}`,
        type: undefined,
      }),
    ),
    reads: definition.reads.map(compileRead),
    children: [
      ...definition.children.map((child, index) =>
        compileChild(child, pointers.children[index] ?? '', 'always'),
      ),
      ...(definition.onDelete?.children ?? []).map((child, index) =>
        compileChild(child, pointers.onDelete[index] ?? '', 'onDelete'),
      ),
    ],
    status: mapValues(definition.status, (tree, name) =>
      compile({
        tree,
        pointer: pointerTo('/spec/status', name),
        field: `status.${name}`,
        type: statusTypes?.fields.get(name)?.type,
        unknownField: {
          code: 'unknown-path',
          hint: 'Add it to the status in the schema of the CRD',
        },
      }),
    ),
  };
}

/** Values of Secrets never stand in a message. */
export function isSecret(gvk: Gvk): boolean {
  return gvkKey(gvk) === 'v1/Secret';
}

function mapValues(
  record: Readonly<Record<string, unknown>>,
  compile: (tree: unknown, name: string) => CompiledTemplate,
): ReadonlyMap<string, CompiledTemplate> {
  return new Map(Object.entries(record).map(([name, tree]) => [name, compile(tree, name)]));
}
