export { placeOfFailure } from './place-of-failure.ts';
export {
  type Proof,
  type ProofOptions,
  proveInSteps,
  proveRoundTrips,
  type RoundTripFailure,
} from './prove-round-trips.ts';
