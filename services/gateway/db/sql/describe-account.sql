-- Prices are exact decimals as text; a year costs ten months.
select a.id, a.name, a.email, json_build_object(
    'name', p.name, 'slug', p.slug, 'screenshots_per_month', p.screenshots_per_month,
    'rate_limit_per_minute', p.rate_limit_per_minute, 'retention_hours', p.retention_seconds / 3600::float8,
    'features', p.features, 'overage_price', p.overage_price::text, 'max_api_keys', p.max_api_keys,
    'price_monthly', p.price_monthly::text, 'price_yearly', (p.price_monthly * 10)::text, 'currency', p.currency) as plan,
    null as subscription
  from account a join plan p on p.slug = a.plan where a.id = $1
