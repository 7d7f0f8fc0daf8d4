select t.id, t.takes as take, t.account_id as "accountId", t.capture_id as "captureId", t.webhook_id as "webhookId", t.url, t.event,
       t.subject as "eventData", t.body, iso_time(t.sent_at) as "sentAt",
       iso_time(t.leased_until - $4::integer * interval '1 millisecond') as "takenAt", t.failures, coalesce(s.sealed, d.sealed_secret) as "sealedSecret",
       case when s.previous_until > now() then s.previous_sealed end as "sealedPreviousSecret",
       (select c.traceparent from capture c where c.id = t.capture_id) as traceparent,
       t.upload_destination_id as "destinationId",
       case when d.id is not null then json_build_object('accessKeyId', d.access_key_id, 'region', d.region) end as destination,
       case when d.id is not null then
         (select json_build_object('objectKey', c.object_key, 'bytes', c.file_size, 'sha256', c.sha256, 'mediaType', c.mime_type,
                                   'alone', c.files is null)
            from capture c where c.id = t.capture_id) end as image
  from take_deliveries($1, $2, $3, $4::integer) t
  left join webhook_secret s on s.webhook_id = t.webhook_id
  left join upload_destination d on d.id = t.upload_destination_id
