import generated from './messages.generated.json' with { type: 'json' };

export interface MessageField {
  readonly name: string;
  /** A scalar of protobuf, or the name of a message. */
  readonly type: string;
  /** `inlined`: the fields of its message stand in the outer object. */
  readonly form: 'single' | 'list' | 'map' | 'inlined';
}

/** By number. */
export type MessageFields = ReadonlyMap<number, MessageField>;

const forms: Readonly<Record<string, MessageField['form']>> = {
  '': 'single',
  '*': 'list',
  '{}': 'map',
  '...': 'inlined',
};

const kinds: Readonly<Record<string, string>> = generated.kinds;
const messages: Readonly<Record<string, readonly (readonly (number | string)[])[]>> =
  generated.messages;

/** The messages of the built-in kinds, each read once. */
export class MessageTable {
  readonly #known = new Map<string, MessageFields>();

  /** The message of a kind: `apps/v1/Deployment`; undefined when there is none. */
  messageOf(kind: string): string | undefined {
    return kinds[kind];
  }

  fields(message: string): MessageFields {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
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
