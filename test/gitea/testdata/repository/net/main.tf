terraform {
  backend "local" {}
}

variable "name" {
  type = string
}

resource "terraform_data" "net" {
  input = var.name
}

output "url" {
  value = "https://${terraform_data.net.output}.example.test"
}
