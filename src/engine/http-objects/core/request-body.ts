import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { ContentType } from '../kinds/http-object.ts';
import { fieldPathOf, withValueAt } from '../spec/field-path.ts';
import type { ObjectSpec } from '../spec/object-spec.ts';
import { merged } from './compare.ts';

/** A body, as it is sent. */
export interface RequestBody {
  readonly text: string;
  readonly contentType: string;
}

const mediaTypes: Readonly<Record<ContentType, string>> = {
  json: 'application/json',
  'merge-patch': 'application/merge-patch+json',
  form: 'application/x-www-form-urlencoded',
};

/**
 * The body of a request that creates or updates: `desired` with the values of `secretFields`. `PUT` updates send it merged into what was
 * observed, so that fields of others are kept. Pure.
 */
export function requestBody(
  role: 'create' | 'update',
  {
    spec,
    inputs,
    observed,
  }: {
    readonly spec: ObjectSpec;
    /** Values of `inputs`. */
    readonly inputs: Readonly<Record<string, string>>;
    readonly observed: Json | undefined;
  },
): RequestBody {
  const template = spec[role];
  const contentType = template?.contentType ?? 'json';
  const desired = withSecretFields(spec, inputs);
  const isReplaced = role === 'update' && template?.method === 'PUT' && contentType === 'json';
  const content = isReplaced ? merged(observed, desired) : desired;
  return {
    contentType: mediaTypes[contentType],
    text: contentType === 'form' ? formOf(content) : JSON.stringify(content),
  };
}

function withSecretFields(
  { desired, secretFields }: ObjectSpec,
  inputs: Readonly<Record<string, string>>,
): JsonObject {
  return Object.entries(secretFields).reduce<JsonObject>((content, [path, input]) => {
    const value = inputs[input];
    return value === undefined ? content : withValueAt(content, fieldPathOf(path) ?? [], value);
  }, desired);
}

function formOf(content: JsonObject): string {
  const entries = Object.entries(content).filter(([, value]) => !isJsonObject(value));
  return new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
}
