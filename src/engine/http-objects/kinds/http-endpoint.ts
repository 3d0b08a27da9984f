import { gvkOf } from '#util/gvk.ts';
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
  oneOf,
  text,
  valueFrom,
  whole,
} from './schema.ts';

/** The kind `HttpEndpoint`: where an HTTP API is, and with which credentials it is used. */
export const httpEndpointGvk = gvkOf('homeostat.dev/v1alpha1', 'HttpEndpoint');

/** Methods that requests may have. */
export const httpMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type HttpMethod = (typeof httpMethods)[number];

const auth = oneOf('How requests are authenticated.', {
  basic: fields(
    'User name and password.',
    { usernameFrom: valueFrom('The user name.'), passwordFrom: valueFrom('The password.') },
    ['usernameFrom', 'passwordFrom'],
  ),
  bearer: fields('A token.', { tokenFrom: valueFrom('The token.') }, ['tokenFrom']),
  header: fields(
    'A header of its own.',
    { name: text('Name of the header.'), valueFrom: valueFrom('Its value.') },
    ['name', 'valueFrom'],
  ),
  oauth2: fields(
    'A token of the OAuth 2 grant "client credentials".',
    {
      tokenUrl: text('URL of the token endpoint.'),
      clientIdFrom: valueFrom('The client id.'),
      clientSecretFrom: valueFrom('The client secret.'),
      scopes: listOf('Requested scopes.', text('A scope.'), { maxItems: 32 }),
    },
    ['tokenUrl', 'clientIdFrom', 'clientSecretFrom'],
  ),
  login: fields(
    'A token that the API itself returns for the token of a service account.',
    {
      path: text('Path of the login, below the URL.'),
      body: anyFields('Body of the login.'),
      jwtField: text('Field of the body that gets the token of the service account.'),
      serviceAccount: fields(
        'The service account. Its annotation `homeostat.dev/http-login: ENDPOINT=AUDIENCE` names the endpoint and the audience.',
        {
          name: objectName('ServiceAccount'),
          audience: text('Audience of its token.', { minLength: 1 }),
        },
        ['name', 'audience'],
      ),
      token: code('The token in the answer: `$(body.auth.client_token)`.'),
      lifetimeSeconds: code('Its lifetime in seconds. Default: one hour.'),
      header: text('Header that carries the token. Default: `Authorization`, as a bearer token.'),
    },
    ['path', 'jwtField', 'serviceAccount', 'token'],
  ),
});

const spec = fields(
  'An HTTP API.',
  {
    url: text('Origin and base path: `https://grafana.shop.svc:3000/api`.', {
      minLength: 1,
      maxLength: 2048,
    }),
    headers: mapOf('Headers of all requests.', text('The value.', { maxLength: 1024 }), {
      maxProperties: 32,
    }),
    auth,
    tls: fields('Settings of TLS.', {
      caFrom: valueFrom('Certificates of the accepted authorities, as PEM.'),
      serverName: text('The expected name in the certificate of the server.'),
      certificateFrom: valueFrom('The client certificate, as PEM.'),
      keyFrom: valueFrom('Its private key, as PEM.'),
      insecureSkipVerify: flag('Whether any certificate is accepted.', false),
    }),
    timeout: duration('Time for a request and its whole answer. Default: `10s`, at most `60s`.'),
    limits: fields('Limits of the requests of this endpoint.', {
      requestsPerSecond: whole('Default: 10.', 1, 1000),
      concurrent: whole('Default: 4.', 1, 20),
    }),
    check: fields('A request that succeeds when the API works.', { path: text('Its path.') }, [
      'path',
    ]),
    allow: listOf(
      'Permitted requests. Default: all paths below the URL.',
      fields(
        'Methods and paths.',
        {
          methods: listOf('Permitted methods.', choice('A method.', httpMethods), { minItems: 1 }),
          paths: listOf(
            'Globs of paths: `*` is a part of a segment, `**` any number of segments.',
            text('A glob.'),
            {
              minItems: 1,
            },
          ),
        },
        ['methods', 'paths'],
      ),
      { maxItems: 64 },
    ),
  },
  ['url'],
);

/** The schema of the kind. */
export const httpEndpointSchema: KindSchema = kindSchema({
  description: 'An HTTP API whose objects Homeostat manages.',
  spec,
  status: {
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      description: 'The generation that this describes.',
    },
    conditions,
  },
});
