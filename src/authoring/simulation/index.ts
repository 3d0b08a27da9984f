export { DefinitionRunners } from './definition-runners.ts';
export { EditableSource } from './editable-source.ts';
export { errorLogger } from './error-logger.ts';
export { ExpectedValueError, ExpectedValues } from './expected-values.ts';
export { createDerivedApi, permitHttp } from './http/derived-apis.ts';
export { isHttpKind, needsRuntime, serveHttpKinds } from './http/needs-runtime.ts';
export { type NamedApi, SimulatedApis } from './http/simulated-apis.ts';
export { createSimulatedHttp } from './http/simulated-http.ts';
export {
  clusterKind,
  isCluster,
  memberFor,
  runsIn,
  withMembers,
} from './members/cluster-object.ts';
export { connectAsUser } from './members/connect-as-user.ts';
export { errorAnswer, isInternalRequest } from './operator-requests.ts';
export { permissiveCrd } from './permissive-crd.ts';
export { pluralOf } from './plural-of.ts';
export { SandboxClient } from './sandbox-client.ts';
export { createSeededRandom } from './seeded-random.ts';
export { Simulation, type SimulationOptions } from './simulation.ts';
export { SimulationClock } from './simulation-clock.ts';
export { createTestApi, type TestApi } from './test-api.ts';
export { TestCluster, UnknownReferenceError } from './test-cluster.ts';
export { TestClusters, type TestPlace } from './test-clusters.ts';
