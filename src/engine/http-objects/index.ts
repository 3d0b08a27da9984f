export {
  HttpObjectsController,
  type HttpObjectsControllerOptions,
} from './controller/http-objects-controller.ts';
export type { ServiceAccountTokens, TokenRequest } from './controller/ports.ts';
export {
  endpointRequests,
  objectRequests,
  type PlannedRequest,
} from './core/planned-requests.ts';
export { httpEndpointGvk, httpEndpointSchema } from './kinds/http-endpoint.ts';
export { httpObjectGvk, httpObjectSchema } from './kinds/http-object.ts';
export { DerivedApi } from './simulated/derived-api.ts';
export {
  SimulatedApi,
  type SimulatedApiSpec,
  type SimulatedRequest,
} from './simulated/simulated-api.ts';
export { type DecodedEndpoint, decodeEndpoint } from './spec/endpoint-spec.ts';
export { type DecodedObject, decodeObject } from './spec/object-spec.ts';
export type { SpecProblem } from './spec/problem.ts';
