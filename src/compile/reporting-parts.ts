import type {
  ConditionDefinition,
  EventDefinition,
  PatchDefinition,
  ReportingDefinition,
} from '../definition/index.ts';
import { pointerTo } from '../util/json-pointer.ts';
import type { KindTypes } from './kind-types.ts';
import type { ScalarType, SchemaType } from './schema/schema-type.ts';
import type { CompiledTemplate } from './template/template.ts';
import type { TemplateOptions } from './template/template-compiler.ts';

/** The templates of a {@link ReportingDefinition}. */
export interface ReportingParts {
  readonly conditions: readonly ConditionParts[];
  readonly events: readonly EventParts[];
  readonly patches: readonly PatchParts[];
  readonly requeueAfter?: CompiledTemplate;
}

export interface ConditionParts {
  readonly definition: ConditionDefinition;
  readonly status: CompiledTemplate;
  readonly reason?: CompiledTemplate;
  readonly message?: CompiledTemplate;
}

export interface EventParts {
  readonly definition: EventDefinition;
  readonly when: CompiledTemplate;
  readonly reason: CompiledTemplate;
  readonly message?: CompiledTemplate;
}

export interface PatchParts {
  readonly definition: PatchDefinition;
  readonly pointer: string;
  readonly type: SchemaType | undefined;
  readonly when?: CompiledTemplate;
  readonly name?: CompiledTemplate;
  readonly namespace?: CompiledTemplate;
  readonly patch: CompiledTemplate;
}

export interface ReportingPartsOptions {
  readonly types: KindTypes;
  readonly compile: (
    options: Pick<TemplateOptions, 'tree' | 'pointer' | 'field' | 'type'>,
  ) => CompiledTemplate;
}

const text: ScalarType = { kind: 'scalar', builtIn: false, accepts: ['string'], format: 'exact' };
const boolean: ScalarType = { ...text, accepts: ['boolean'] };
const either: ScalarType = { ...text, accepts: ['boolean', 'string'] };

/** Compiles the templates one by one. */
export function compileReporting(
  { conditions, events, patches, requeueAfter }: ReportingDefinition,
  { types, compile }: ReportingPartsOptions,
): ReportingParts {
  /** The compiled fields of one item, those that it has. */
  function fieldsOf<Field extends string>(
    item: Readonly<Record<string, unknown>>,
    at: { readonly pointer: string; readonly field: string },
    fields: Readonly<Record<Field, SchemaType | undefined>>,
  ): { readonly [Each in Field]?: CompiledTemplate } {
    const written = Object.entries<SchemaType | undefined>(fields).flatMap(([name, type]) => {
      if (item[name] === undefined) return [];
      const pointer = pointerTo(at.pointer, name);
      return [[name, compile({ tree: item[name], pointer, field: `${at.field}.${name}`, type })]];
    });
    return Object.fromEntries(written) as never;
  }

  function required(tree: unknown, pointer: string, field: string, type?: SchemaType) {
    return compile({ tree, pointer, field, type });
  }

  function conditionParts(definition: ConditionDefinition, index: number): ConditionParts {
    const pointer = `/spec/conditions/${index}`;
    const field = `conditions.${definition.type}`;
    return {
      definition,
      status: required(definition.status, `${pointer}/status`, `${field}.status`, either),
      ...fieldsOf({ ...definition }, { pointer, field }, { reason: text, message: text }),
    };
  }

  function eventParts(definition: EventDefinition, index: number): EventParts {
    const pointer = `/spec/events/${index}`;
    const field = `events[${index}]`;
    return {
      definition,
      when: required(definition.when, `${pointer}/when`, `${field}.when`, boolean),
      reason: required(definition.reason, `${pointer}/reason`, `${field}.reason`, text),
      ...fieldsOf({ ...definition }, { pointer, field }, { message: text }),
    };
  }

  function patchParts(definition: PatchDefinition, index: number): PatchParts {
    const pointer = `/spec/patches/${index}`;
    const field = `patches.${definition.id}`;
    const { target } = definition;
    const type = target === undefined ? types.resource : types.typeOf(target.gvk);
    const at = { pointer: `${pointer}/target`, field: `${field}.target` };
    return {
      definition,
      pointer,
      type,
      ...fieldsOf({ ...definition }, { pointer, field }, { when: boolean }),
      ...fieldsOf({ ...target }, at, { name: text, namespace: text }),
      patch: required(definition.patch, `${pointer}/patch`, field, type),
    };
  }

  const requeue = { tree: requeueAfter, pointer: '/spec/requeueAfter', field: 'requeueAfter' };
  return {
    conditions: conditions.map(conditionParts),
    events: events.map(eventParts),
    patches: patches.map(patchParts),
    ...(requeueAfter === undefined ? {} : { requeueAfter: compile({ ...requeue, type: text }) }),
  };
}

/** All templates that a {@link ReportingParts} evaluates. */
export function templatesOf(parts: ReportingParts | undefined): readonly CompiledTemplate[] {
  if (parts === undefined) return [];
  const { conditions, events, patches, requeueAfter } = parts;
  return [
    ...conditions.flatMap(({ status, reason, message }) => [status, reason, message]),
    ...events.flatMap(({ when, reason, message }) => [when, reason, message]),
    ...patches.flatMap(({ when, name, namespace, patch }) => [when, name, namespace, patch]),
    requeueAfter,
  ].filter((template) => template !== undefined);
}
