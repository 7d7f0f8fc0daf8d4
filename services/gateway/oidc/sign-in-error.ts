/**
 * Why a sign-in with the provider failed; the sign-in page says of each what to do. `provider`: unreachable. `refused`: by the
 * provider or the person. `expired`: not started by this browser within ten minutes, or used before. `unverified`: no verified
 * email address. `no_account`: member of no account. `failed`: invalid response of the provider. `busy`: too many sign-ins.
 */
export type SignInFailure = 'provider' | 'refused' | 'expired' | 'unverified' | 'no_account' | 'failed' | 'busy'

/** A sign-in that failed. The message is for logs. */
export class SignInError extends Error {
  readonly reason: SignInFailure

  constructor(reason: SignInFailure, message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}
