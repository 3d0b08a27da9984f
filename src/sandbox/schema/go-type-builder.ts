import type { Json } from '../../util/json.ts';
import type { MergeComponents, MergeSchema } from '../apply/index.ts';
import type { GoField, GoScalar, GoType } from './go-type.ts';

/** Optional fields that are no pointers, by component: their zero value is not written. */
export type DroppedZeros = Readonly<Record<string, readonly string[]>>;

/** Builds the types of built-in kinds from their OpenAPI components, each component once. */
export class GoTypeBuilder {
  readonly #components: MergeComponents;
  readonly #droppedZeros: DroppedZeros;
  readonly #types = new Map<string, GoType>();

  constructor(components: MergeComponents, droppedZeros: DroppedZeros) {
    this.#components = components;
    this.#droppedZeros = droppedZeros;
  }

  /** The type of a component: `io.k8s.api.core.v1.ConfigMap`. */
  component(name: string): GoType {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const schema = this.#components[name] ?? {};
    const special = specialType(name, schema);
    if (special !== undefined) {
      this.#types.set(name, special);
      return special;
    }
    if (schema.properties === undefined) {
      const type = this.#typeOf(schema);
      this.#types.set(name, type);
      return type;
    }
    // The entry goes in before the fields are built: types may be recursive.
    const fields = new Map<string, GoField>();
    const shortName = name.slice(name.lastIndexOf('.') + 1);
    const always: [string, GoField][] = [];
    const type: GoType = { kind: 'struct', name: shortName, fields, always, known: new WeakSet() };
    this.#types.set(name, type);
    const dropped = new Set(this.#droppedZeros[name]);
    for (const [name, fieldSchema] of Object.entries(schema.properties)) {
      const field: GoField = {
        order: fields.size,
        ...this.#field(fieldSchema, dropped.has(name)),
        dropsZero: dropped.has(name),
        // Go marks as optional what it leaves out, but for times.
        writesNull:
          (schema.required?.includes(name) === true && isCollection(fieldSchema)) ||
          (writtenTimes.has(name) && isTime(fieldSchema)),
      };
      fields.set(name, field);
      if (field.byDefault !== undefined || field.writesNull) always.push([name, field]);
    }
    return type;
  }

  #field(schema: MergeSchema, dropsZero: boolean): Pick<GoField, 'type' | 'byDefault'> {
    const { default: said } = schema;
    // A number of its own is for the rules of a kind to fill in: a struct of Go does not begin with it.
    const isFilledIn = typeof said === 'number' && (said !== 0 || dropsZero);
    const byDefault = isFilledIn ? undefined : (said as Json | undefined);
    return { type: this.#typeOf(schema), byDefault };
  }

  #typeOf(schema: MergeSchema): GoType {
    const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
    if (ref !== undefined) return this.component(ref.slice(ref.lastIndexOf('/') + 1));
    switch (schema.type) {
      case 'array':
        return { kind: 'list', item: this.#typeOf(schema.items ?? {}) };
      case 'object':
        if (typeof schema.additionalProperties === 'object')
          return { kind: 'map', item: this.#typeOf(schema.additionalProperties) };
        return { kind: 'any' };
      case 'string':
        return scalar('string', schema.format === 'byte' ? 'bytes' : 'plain');
      case 'integer':
        return scalar(schema.format === 'int64' ? 'int64' : 'int32', 'plain');
      case 'number':
        return scalar('float64', 'plain');
      case 'boolean':
        return scalar('bool', 'plain');
      default:
        return { kind: 'any' };
    }
  }
}

/** Times that are no pointers: they are written as null when nobody has set them. */
const writtenTimes: ReadonlySet<string> = new Set([
  'deprecatedFirstTimestamp',
  'deprecatedLastTimestamp',
  'eventTime',
  'evictionTime',
  'finishedAt',
  'firstTimestamp',
  'lastHeartbeatTime',
  'lastObservedTime',
  'lastProbeTime',
  'lastTimestamp',
  'lastTransitionTime',
  'lastUpdateTime',
  'startedAt',
]);

function isTime({ $ref, allOf }: MergeSchema): boolean {
  return ($ref ?? allOf?.[0]?.$ref ?? '').endsWith('Time');
}

function isCollection({ type, properties }: MergeSchema): boolean {
  return type === 'array' || (type === 'object' && properties === undefined);
}

function scalar(go: GoScalar['go'], format: GoScalar['format']): GoScalar {
  return { kind: 'scalar', go, format };
}

function specialType(name: string, schema: MergeSchema): GoType | undefined {
  if (schema.properties !== undefined) return undefined;
  if (name.endsWith('.meta.v1.Time')) return scalar('string', 'time');
  if (name.endsWith('.meta.v1.MicroTime')) return scalar('string', 'micro-time');
  if (name.endsWith('.api.resource.Quantity')) return scalar('string', 'quantity');
  if (name.endsWith('.intstr.IntOrString')) return scalar('string', 'int-or-string');
  return undefined;
}
