import type { RuleSection } from './rule.ts';

const spec = 'src/engine/http-objects/spec';
const controller = 'src/engine/http-objects/controller';
const decoded = `${spec}/decode.test.ts`;
const templates = `${spec}/template-problems.test.ts`;
const paths = `${spec}/path-template.test.ts`;
const locations = `${spec}/location.test.ts`;
const decisions = 'src/engine/http-objects/core/decide.test.ts';
const answers = 'src/engine/http-objects/core/read-answer.test.ts';
const objects = `${controller}/object-reconciler.test.ts`;
const sessions = `${controller}/endpoint-session.test.ts`;
const onServers = 'test/integration/http-objects.test.ts';
const attacks = 'test/attacks/http-outbound.test.ts';
const histories = 'src/engine/http-objects/model.test.ts';

/** The kind `HttpEndpoint`. */
export const httpEndpoints: RuleSection = {
  heading: 'HttpEndpoint',
  page: '../http.md',
  rules: [
    {
      rule: '`url` is the origin and base path of an API; no request leaves it, also by a redirect',
      shownBy: [`${locations} › below it is`, `${sessions} › a redirect to`],
    },
    {
      rule: 'By default, `url` leads to Services of the namespace whose Pods have addresses of their own; `--http-allow` permits more. Loopback, metadata addresses, nodes and the API server need a rule of their own',
      shownBy: [
        'src/engine/kube/outbound/outbound-policy.test.ts',
        `${attacks} › a Service of the own namespace does not lead elsewhere`,
        `${attacks} › a Pod in the network of its node is no way to the node`,
      ],
    },
    {
      rule: '`allow` limits `methods` and `paths`; a path with an encoded slash must be permitted in both forms, and headers, queries and bodies by which servers use another method or path are errors',
      shownBy: [
        `${sessions} › what the rules of the endpoint do not allow is not sent`,
        `${locations} › a server may decode slashes`,
        `${decoded} › a header that overrides the method`,
      ],
    },
    {
      rule: '`auth` is one of `basic` (`usernameFrom`, `passwordFrom`), `bearer` (`tokenFrom`), `header` (`name`, `valueFrom`), `oauth2` and `login`; the `headers` of the endpoint are not those of the runtime',
      shownBy: [
        `${decoded} › two kinds of credentials`,
        `${decoded} › a reserved header`,
        `${sessions} › sends ${'${header}'}`,
      ],
    },
    {
      rule: '`oauth2` (`tokenUrl`, `clientIdFrom`, `clientSecretFrom`, `scopes`) fetches one token for all objects, renews it in time, and once after a 401',
      shownBy: [
        `${sessions} › one is fetched once for concurrent requests`,
        `${sessions} › a rejected one is renewed once`,
      ],
    },
    {
      rule: '`login` sends the token of a `serviceAccount` for an `audience` to its `path`, as `jwtField` of its `body`, and uses `token`, `lifetimeSeconds` and `header` of the answer; the account names endpoint and audience',
      shownBy: [
        `${sessions} › a login sends the token of its service account`,
        `${controller}/login-tokens.test.ts › requests no token for`,
      ],
    },
    {
      rule: 'A `secretKeyRef` or `configMapKeyRef` is read in namespaces with the label `homeostat.dev/http` only',
      shownBy: [
        `${controller}/named-values.test.ts › nothing is read or written in a namespace`,
        `${onServers} › one of a namespace without the label is not read`,
      ],
    },
    {
      rule: '`tls` has `caFrom`, `serverName`, `certificateFrom` with `keyFrom`, and `insecureSkipVerify`, which is a warning',
      shownBy: [
        `${decoded} › half a client certificate`,
        `${decoded} › no verification`,
        'src/engine/kube/outbound/undici-transport.test.ts',
      ],
    },
    {
      rule: '`timeout` is one for a token, redirects, the request and its second attempt together',
      shownBy: [`${sessions} › share it`, `${sessions} › redirects share the time-out`],
    },
    {
      rule: '`limits` are `requestsPerSecond` and `concurrent`; a dead endpoint delays no other',
      shownBy: [
        `${sessions} › the requests per second and the concurrent ones are limited`,
        `${onServers} › a dead endpoint delays no other`,
      ],
    },
    {
      rule: '`check` is requested every minute, and before a 404 counts',
      shownBy: [
        `${controller}/endpoint-reconciler.test.ts › its check is sent once a minute`,
        `${decisions} › a check that fails confirms nothing`,
      ],
    },
    {
      rule: 'While an API does not answer, one of its objects tries again after at most 10 s; its first answer releases the others',
      shownBy: [
        `${controller}/endpoint-outage.test.ts`,
        'test/integration/http-objects-run.test.ts › a service that is down',
      ],
    },
  ],
};

/** The kind `HttpObject`. */
export const httpObjects: RuleSection = {
  heading: 'HttpObject',
  page: '../http.md',
  rules: [
    {
      rule: 'Only `observe.result`, `find.results`, `id`, `ready`, `values.*`, `secret.data.*`, `absent` and `error` are code; all else is data',
      shownBy: [
        `${decoded} › what is desired is data, whatever it contains`,
        `${attacks} › texts of a resource are data`,
      ],
    },
    {
      rule: 'Code, each `path` and `slashesIn` are literal in a definition',
      shownBy: [
        `${templates} › is not computed by an expression at`,
        `${templates} › which values may have slashes is literal`,
      ],
    },
    {
      rule: 'Each entry of `params` is encoded as one segment of a path, and is no relative path, however often it is decoded; a slash needs `slashesIn`',
      shownBy: [`${paths} › with "slashesIn", the value`, `${paths} › a slash in a value`],
    },
    {
      rule: '`desired` is the body of `create` and `update` (`method`, `path`, `query`, `headers`, `contentType`), and is compared with the result of `observe`, except for the fields in `ignore`',
      shownBy: [
        'src/engine/http-objects/core/request-body.test.ts',
        'src/engine/http-objects/core/compare.test.ts',
        `${objects} › what changes in the API is reverted, and fields of others are kept`,
      ],
    },
    {
      rule: '`secretFields` take values of `inputs`: they are sent again when they change, and are in no status, Event or record',
      shownBy: [`${objects} › a value is sent, is in nothing that users see`],
    },
    {
      rule: 'The record is stored before `create` is sent, and a create without an answer is never sent again before the API says that nothing exists',
      shownBy: [
        `${decisions} › the create is stored as pending before it is sent`,
        `${decisions} › "none" does not count while the request can arrive`,
        histories,
        `${onServers.replace('.test', '-run.test')} › a lost answer to a create makes one object`,
      ],
    },
    {
      rule: '`find` returns one object that is equal by `match`; several are a conflict, and a failure creates nothing',
      shownBy: [
        `${decisions} › several are a conflict`,
        `${answers} › a field of "match" that "desired" lacks finds and creates nothing`,
      ],
    },
    {
      rule: 'An `endpoint` with another origin, base path or UID gets no request until an annotation approves it',
      shownBy: [`${decisions} › another URL sends nothing`],
    },
    {
      rule: 'An edit that names another object is held, or with `onIdentityChange: Replace` the previous one is deleted first',
      shownBy: [`${decisions} › with Replace the previous one is deleted first`],
    },
    {
      rule: '`adopt: IfFound` takes an existing object over; without it, one is a conflict',
      shownBy: [`${decisions} › one is not adopted`, `${decisions} › one is adopted`],
    },
    {
      rule: 'Three updates whose effect does not last are `Unstable`; `write: WhenChanged` is for APIs that do not return what was sent',
      shownBy: [
        `${objects} › a field that the API does not keep is unstable after three updates`,
        `${decisions} › WhenChanged writes what was not sent`,
      ],
    },
    {
      rule: 'It is observed again after `every`; an observation that finds nothing new writes nothing',
      shownBy: [
        `${objects} › a look that finds nothing new sends nothing to the API server`,
        'test/integration/http-objects-run.test.ts › at rest, and with a restart, nothing is written',
      ],
    },
    {
      rule: '`idempotencyKey` sends the UID of the object',
      shownBy: [`${objects} › a create is named by the UID of the object`],
    },
    {
      rule: '`secret` (`name`, `data`) is a Secret with values of answers; lost ones are `SecretLost`, or created again with `onSecretLost: Recreate`',
      shownBy: [
        `${objects} › a value of the answer to a create is in the owned Secret only`,
        `${decisions} › Recreate deletes it`,
      ],
    },
    {
      rule: '`delete` is confirmed by the API before the finalizer is removed; `deletionPolicy: Orphan` keeps the object, and `whenGone` decides without an endpoint',
      shownBy: [
        `${objects} › a deletion is confirmed before the finalizer is removed`,
        `${objects} › a deleted object whose endpoint is missing`,
      ],
    },
    {
      rule: 'Without requests that write, an object is only read; `desired` then has the fields of `find.match` only',
      shownBy: [
        `${decisions} › it is as it is`,
        `${objects} › one is found and read, and nothing is written in the API`,
      ],
    },
    {
      rule: 'What the API server rejects is the reason `WriteRejected`, an Event and a log line',
      shownBy: [
        `${objects} › a record that cannot be written is in the status`,
        `${controller}/rejected-writes.test.ts`,
      ],
    },
  ],
};
