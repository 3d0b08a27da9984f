export {
  type Proof,
  type ProofOptions,
  proveRoundTrips,
  type RoundTripFailure,
} from './prove-round-trips.ts';
