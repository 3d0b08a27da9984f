import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { apply, configMap, configMaps, get, merge, post } from './requests.ts';

const x = `${configMaps}/x`;
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** As `kubectl apply` leaves it, which keeps what was said in an annotation. */
function clientApplied(data: JsonObject): JsonObject {
  const said = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data };
  return configMap(data, { annotations: { [lastApplied]: JSON.stringify(said) } });
}

const byClient = `${configMaps}?fieldManager=kubectl-client-side-apply`;

/** From client-side to server-side applies. */
export const clientApplies: readonly ContractCase[] = [
  {
    name: 'kubectl takes over on the server what it applied itself as a client, and reports it in the annotation',
    ranked: [56],
    steps: [
      post(byClient, clientApplied({ a: '1', b: '1' }), { status: 201 }),
      apply({
        to: x,
        by: 'kubectl',
        body: configMap({ a: '2' }),
        expect: { status: 200, body: { data: { a: '2' } } },
      }),
      get(x, { status: 200, body: { data: { a: '2', b: '1' } } }),
    ],
  },
  {
    name: 'no other takes over what kubectl applied as a client',
    ranked: [56],
    steps: [
      post(byClient, clientApplied({ a: '1' }), { status: 201 }),
      apply({
        to: x,
        by: 'other',
        body: configMap({ a: '2' }),
        expect: {
          status: 409,
          message: /conflict with "kubectl-client-side-apply" using v1: \.data\.a$/,
        },
      }),
    ],
  },
  {
    name: 'what others changed since kubectl does not take over',
    ranked: [56],
    steps: [
      post(byClient, clientApplied({ a: '1', b: '1' }), { status: 201 }),
      merge(`${x}?fieldManager=u`, { data: { a: 'u' } }, { status: 200 }),
      apply({
        to: x,
        by: 'kubectl',
        body: configMap({ a: '2', b: '2' }),
        expect: { status: 409, message: /conflict with "u" using v1: \.data\.a$/ },
      }),
    ],
  },
];
