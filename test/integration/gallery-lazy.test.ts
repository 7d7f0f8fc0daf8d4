import t from 'tap'
import { lazy } from '#test/fixtures/gallery/lazy.ts'
import { testGallery } from '#test/helpers/gallery.ts'

await testGallery(t, lazy)
