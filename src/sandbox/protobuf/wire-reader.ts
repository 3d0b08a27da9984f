import { HomeostatError } from '#util/homeostat-error.ts';
import generated from './messages.generated.json' with { type: 'json' };

/** Bytes that are not a valid protobuf message. */
export class WireError extends HomeostatError<'no-protobuf'> {
  constructor(message: string) {
    super('no-protobuf', message);
  }
}

/** One encoded field: a number, or bytes to interpret by the field's type. */
export interface WireField {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

/** The fields of a message, in their order. @throws WireError */
export function readFields(bytes: Uint8Array): readonly WireField[] {
  const fields: WireField[] = [];
  const reader = new WireReader(bytes);
  while (!reader.isAtEnd) {
    const tag = Number(reader.varint());
    fields.push({ number: tag >>> 3, value: reader.value(tag & 7) });
  }
  return fields;
}

class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  value(wireType: number): bigint | Uint8Array {
    switch (wireType) {
      case 0:
        return this.varint();
      case 1:
        return this.#take(8);
      case 2:
        return this.#take(Number(this.varint()));
      case 5:
        return this.#take(4);
      default:
        throw new WireError(`proto: illegal wireType ${wireType}`);
    }
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new WireError('unexpected EOF');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new WireError('proto: integer overflow');
  }

  #take(count: number): Uint8Array {
    const end = this.#at + count;
    if (count < 0 || end > this.#bytes.length) throw new WireError('unexpected EOF');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

export interface MessageField {
  readonly name: string;
  /** A protobuf scalar, or the name of a message. */
  readonly type: string;
  /** `inlined`: the fields of its message are fields of the outer object. */
  readonly form: 'single' | 'list' | 'map' | 'inlined';
}

/** By number. */
type MessageFields = ReadonlyMap<number, MessageField>;

const forms: Readonly<Record<string, MessageField['form']>> = {
  '': 'single',
  '*': 'list',
  '{}': 'map',
  '...': 'inlined',
};

/** The messages of the built-in kinds, each parsed once. */
export class MessageTable {
  readonly #known = new Map<string, MessageFields>();

  /** The message of a kind: `apps/v1/Deployment`; undefined when there is none. */
  messageOf(kind: string): string | undefined {
    const kinds: Readonly<Record<string, string>> = generated.kinds;
    return kinds[kind];
  }

  fields(message: string): MessageFields {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    const messages: Readonly<Record<string, readonly (readonly (number | string)[])[]>> =
      generated.messages;
    const rows = messages[message] ?? [];
    const fields = new Map(
      rows.map(([number, name, type, form = '']): [number, MessageField] => [
        Number(number),
        { name: String(name), type: String(type), form: forms[form] ?? 'single' },
      ]),
    );
    this.#known.set(message, fields);
    return fields;
  }
}
