import type { Static } from 'typebox'
import { roles } from '#shared/db/sign-in-links.ts'
import { membersMax } from '#shared/db/members.ts'
import { component, enumSchema, id, list, named, object, orNull, text, timestamp, url } from '#shared/schema/fields.ts'
import { inEnvelope } from './envelope.ts'
import { exampleIds, exampleTimes } from './example-values.ts'

/** A member in responses. */
export const memberRecord = component('Member', {
  id: id('Id of the member.', exampleIds.member),
  email: text('Email address, in lower case.', { example: 'ada@example.com' }),
  role: enumSchema(roles, '`owner`: also manages members; `member`: does everything else; `viewer`: only reads.', {
    example: 'member',
  }),
  subject: orNull(
    text('Identifier of the person at the OpenID Connect provider (`sub`); null before the first sign-in with it.', {
      example: '248289761001',
    }),
  ),
  created_at: timestamp('Time at which the member was added.', exampleTimes.created),
  last_sign_in_at: orNull(
    timestamp(
      'Time of the latest sign-in, for a member who has signed in with the provider of the latest one with it; null before.',
    ),
  ),
})

/** See `memberRecord`. */
export type MemberRecord = Static<typeof memberRecord>

/** Body of a response with the members of an account. */
export const memberList = named('MemberList', inEnvelope(list(memberRecord, membersMax, 'Members, oldest first.')))

/** Body of a response with one member. */
export const memberAnswer = named('MemberAnswer', inEnvelope(memberRecord))

/** Body of a response with a new sign-in link. */
export const signInLinkAnswer = named(
  'SignInLinkAnswer',
  inEnvelope(
    object({
      url: url(
        'The link, which works once. Returned only in this response.',
        'https://shots.example.com/console/sign-in#token=Zk3wq1hT8vN5pYx0Lr7BcD2mS9eU4aGfJ6iOtQyXnRk',
      ),
      expires_at: timestamp('Time at which the link expires.', exampleTimes.created),
    }),
  ),
)
