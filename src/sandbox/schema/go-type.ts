import type { Json, JsonObject } from '../../util/json.ts';

/** How the server holds a value of a built-in kind: what its JSON is read into and written from. */
export type GoType = GoScalar | GoList | GoMap | GoStruct | GoAny;

export interface GoScalar {
  readonly kind: 'scalar';
  readonly go: 'string' | 'int32' | 'int64' | 'float64' | 'bool';
  readonly format: 'plain' | 'time' | 'micro-time' | 'bytes' | 'quantity' | 'int-or-string';
}

export interface GoList {
  readonly kind: 'list';
  readonly item: GoType;
}

export interface GoMap {
  readonly kind: 'map';
  readonly item: GoType;
}

export interface GoStruct {
  readonly kind: 'struct';
  /** As messages name it: `ObjectMeta`. */
  readonly name: string;
  readonly fields: ReadonlyMap<string, GoField>;
  /** Fields that are written though nothing was said. */
  readonly always: readonly (readonly [string, GoField])[];
  /** Objects that are what reading them makes of them. A write reads its object up to four times, and changes little of it in between. */
  readonly known: WeakSet<JsonObject>;
}

/** Kept as it is. */
export interface GoAny {
  readonly kind: 'any';
}

export interface GoField {
  /** Where the field stands in its struct: fields are written in this order. */
  readonly order: number;
  readonly type: GoType;
  /** The zero value is not written. */
  readonly dropsZero: boolean;
  /** Written when nothing was said, or a zero where zeros are dropped. */
  readonly byDefault: Json | undefined;
  /** A list or map that is written as null when it is empty. */
  readonly writesNull: boolean;
}

/** How Go names the type in messages. */
export function goTypeName(type: GoType): string {
  switch (type.kind) {
    case 'scalar':
      return type.format === 'bytes' ? '[]uint8' : type.go;
    case 'list':
      return `[]${goTypeName(type.item)}`;
    case 'map':
      return `map[string]${goTypeName(type.item)}`;
    case 'struct':
      return `v1.${type.name}`;
    case 'any':
      return 'interface {}';
  }
}
