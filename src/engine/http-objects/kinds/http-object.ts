import { gvkOf } from '#util/gvk.ts';
import { httpMethods } from './http-endpoint.ts';
import {
  anyFields,
  choice,
  code,
  conditions,
  duration,
  fields,
  flag,
  type KindSchema,
  kindSchema,
  listOf,
  mapOf,
  objectName,
  scalar,
  text,
  valueFrom,
} from './schema.ts';

/** The kind `HttpObject`: one object behind an HTTP API. */
export const httpObjectGvk = gvkOf('homeostat.dev/v1alpha1', 'HttpObject');

/** Formats of bodies. */
export const contentTypes = ['json', 'merge-patch', 'form'] as const;
export type ContentType = (typeof contentTypes)[number];

const path = text('Path below the URL of the endpoint; `{name}` is a parameter, `{id}` the id.', {
  minLength: 1,
  maxLength: 1024,
});
const query = mapOf('The query.', text('A value.', { maxLength: 1024 }), { maxProperties: 32 });
const headers = mapOf('More headers.', text('A value.', { maxLength: 1024 }), {
  maxProperties: 32,
});

function write(description: string, methods: readonly string[]): KindSchema {
  return fields(
    description,
    {
      method: choice('The method.', methods),
      ...{ path, query, headers },
      contentType: choice('Format of the body. Default: `json`.', contentTypes),
    },
    ['path'],
  );
}

const spec = fields(
  'One object behind an HTTP API.',
  {
    endpoint: fields(
      'The HttpEndpoint, in the same namespace.',
      { name: objectName('HttpEndpoint') },
      ['name'],
    ),
    params: mapOf('Parameters of paths.', scalar('A text, number or boolean.'), {
      maxProperties: 32,
    }),
    slashesIn: listOf(
      'Parameters whose values may contain `/` and `\\`, which are sent as `%2F` and `%5C`. Default: none, because some servers decode them before they route.',
      text('A parameter.'),
      { maxItems: 32 },
    ),
    inputs: mapOf('Values of Secrets and ConfigMaps.', valueFrom('A value.'), {
      maxProperties: 16,
    }),
    desired: anyFields('The desired content. It is data: nothing in it is evaluated.'),
    secretFields: mapOf(
      'By path in `desired` (`auth.password`), the input that is its value.',
      text('An input.'),
      {
        maxProperties: 16,
      },
    ),
    ignore: listOf('Paths in `desired` that are sent, but not compared.', text('A path.'), {
      maxItems: 64,
    }),
    observe: fields(
      'How the object is read.',
      {
        ...{ path, query, headers },
        result: code('The object in the answer. Default: `$(body)`.'),
      },
      ['path'],
    ),
    find: fields(
      'How the object is found before its id is known.',
      {
        ...{ path, query, headers },
        results: code('The list of objects in the answer. Default: `$(body)`.'),
        match: listOf('Fields that are equal in `desired` and in the object.', text('A path.'), {
          minItems: 1,
          maxItems: 16,
        }),
      },
      ['path', 'match'],
    ),
    create: write('How the object is created, with `desired` as body. Default method: `POST`.', [
      'POST',
      'PUT',
      'PATCH',
    ]),
    update: write(
      'How it is changed. `PUT` sends `desired` merged into what was observed, others send `desired`. Default method: `PUT`.',
      ['PUT', 'PATCH', 'POST'],
    ),
    delete: fields(
      'How it is deleted.',
      {
        method: choice(
          'Default: `DELETE`.',
          httpMethods.filter((method) => method !== 'GET'),
        ),
        ...{ path, query, headers },
      },
      ['path'],
    ),
    id: code(
      'The id in the answer to `create`, or in the found object. Without it, the paths name the object.',
    ),
    write: choice(
      '`WhenChanged`: for APIs that do not return what was sent. Default: `WhenDifferent`.',
      ['WhenDifferent', 'WhenChanged'],
    ),
    every: duration(
      'Time between two observations. `0`: only after changes. Default: `10m`, at least `10s`.',
    ),
    ready: code('Whether the object is ready. Default: it exists and is as desired.'),
    values: mapOf('Values for `status.values`, at most 32 KiB.', code('A value.'), {
      maxProperties: 32,
    }),
    secret: fields(
      'A Secret for values of answers, owned by this object.',
      {
        name: objectName('Secret'),
        data: mapOf('Values by key.', code('A value.'), { minProperties: 1, maxProperties: 16 }),
      },
      ['name', 'data'],
    ),
    onSecretLost: choice(
      'What happens if the answer with the values of `secret` is lost. Default: `Wait`.',
      ['Wait', 'Recreate'],
    ),
    adopt: choice('Whether an existing object is taken over. Default: `Never`.', [
      'Never',
      'IfFound',
    ]),
    deletionPolicy: choice('What happens at deletion. Default: `Delete`.', ['Delete', 'Orphan']),
    whenGone: choice(
      'What happens at deletion if the endpoint or its credentials are missing. Default: `Wait`, and `Orphan` while the namespace is deleted.',
      ['Wait', 'Orphan'],
    ),
    onIdentityChange: choice('What happens if an edit names another object. Default: `Hold`.', [
      'Hold',
      'Replace',
    ]),
    idempotencyKey: flag('Whether `create` sends the header `Idempotency-Key`.', false),
    absent: code(
      'Whether an answer says that the object does not exist. Default: status 404 or 410.',
    ),
    error: code(
      'The text of an error for the status. Default: only its code if credentials or inputs are used.',
    ),
  },
  ['endpoint', 'observe'],
);

/** The schema of the kind. */
export const httpObjectSchema: KindSchema = kindSchema({
  description: 'One object behind an HTTP API.',
  spec,
  status: {
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      description: 'The generation that this describes.',
    },
    id: text('The id of the object in the API.'),
    values: anyFields('The values of the last answer.'),
    code: { type: 'integer', description: 'HTTP status of the last answer.' },
    lastChange: text('When the object was last created or changed.', { format: 'date-time' }),
    conditions,
  },
});
