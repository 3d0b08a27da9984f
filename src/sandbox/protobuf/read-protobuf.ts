import type { JsonObject } from '#util/json.ts';
import { badRequest, notModelled } from '../status/api-errors.ts';
import { decodeMessage } from './decode-message.ts';
import { MessageTable, readFields, WireError } from './wire-reader.ts';

/** `k8s` and a zero byte: the prefix of every body. */
const magic = [0x6b, 0x38, 0x73, 0x00];

const extraMessages: Readonly<Record<string, string>> = {
  'meta.k8s.io/v1/DeleteOptions': 'k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions',
  'v1/DeleteOptions': 'k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions',
  'autoscaling/v1/Scale': 'k8s.io.api.autoscaling.v1.Scale',
  'policy/v1/Eviction': 'k8s.io.api.policy.v1.Eviction',
};

/** Decodes protobuf bodies to JSON. */
export class ProtobufReader {
  readonly #table = new MessageTable();

  /** @throws StatusError 400 for an invalid body, 501 for kinds without a message table */
  read(body: Uint8Array): JsonObject {
    try {
      return this.#read(body);
    } catch (error) {
      if (error instanceof WireError)
        throw badRequest(`unable to decode the body: ${error.message}`);
      throw error;
    }
  }

  #read(body: Uint8Array): JsonObject {
    if (!magic.every((byte, index) => body[index] === byte))
      throw badRequest(
        'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
      );
    const unknown = new Map(
      readFields(body.subarray(magic.length)).map(({ number, value }) => [number, value]),
    );
    const head = textFields(unknown.get(1));
    const [apiVersion, kind] = [head.get(1) ?? '', head.get(2) ?? ''];
    const raw = unknown.get(2);
    const key = `${apiVersion}/${kind}`;
    // DeleteOptions use the version of the object to delete.
    const isDeletion = kind === 'DeleteOptions';
    const extra = isDeletion ? extraMessages['v1/DeleteOptions'] : extraMessages[key];
    const message = extra ?? this.#table.messageOf(key);
    if (message === undefined) throw notModelled(`protobuf bodies of ${apiVersion} ${kind}`);
    const bytes = raw instanceof Uint8Array ? raw : new Uint8Array();
    return { apiVersion, kind, ...decodeMessage(this.#table, message, bytes) };
  }
}

function textFields(bytes: bigint | Uint8Array | undefined): ReadonlyMap<number, string> {
  if (!(bytes instanceof Uint8Array)) return new Map();
  return new Map(
    readFields(bytes).flatMap(({ number, value }) =>
      value instanceof Uint8Array ? [[number, new TextDecoder().decode(value)] as const] : [],
    ),
  );
}
