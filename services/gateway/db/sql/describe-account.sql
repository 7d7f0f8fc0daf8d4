select a.id, a.name, a.email, json_build_object(
    'name', p.name, 'slug', p.slug, 'screenshotsPerMonth', p.screenshots_per_month,
    'rateLimitPerMinute', p.rate_limit_per_minute, 'retentionSeconds', p.retention_seconds, 'features', p.features,
    'overagePrice', p.overage_price::text, 'maxApiKeys', p.max_api_keys, 'priceMonthly', p.price_monthly::text,
    'currency', p.currency) as plan
  from account a join plan p on p.slug = a.plan where a.id = $1
